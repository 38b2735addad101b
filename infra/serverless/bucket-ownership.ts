import { BUCKET_KEYS } from "../../runtime/contract/backup.ts";
import { type ErrorCode, StewardError } from "../../runtime/contract/errors.ts";
import type { OperatorCommands } from "../../runtime/contract/operator-commands.ts";
import type { AccountAccess } from "./account-api.ts";
import { type BucketOwner, findBucket, type FoundBucket, readContent } from "./bucket-api.ts";
import { fittingName, LONGEST } from "./names.ts";

export interface BucketClaim {
  accountId: string;
  name: string;
  /** `<project>/<stack>`, as written in the bucket's marker. */
  owner: string;
  /**
   * The operator's confirmation of a takeover: the ownership marker's id, or the bucket's name if there is no marker.
   */
  adopt?: string | undefined;
}

/** Returns the reason not to adopt a bucket; `undefined` if the stack may adopt it. */
export function foreignCode(
  { owner }: FoundBucket,
  { name, owner: own, adopt }: BucketClaim,
): ErrorCode | undefined {
  if (owner === undefined) return adopt === name ? undefined : "bucket_unmarked";
  const isKept = owner.owner === own && owner.released !== undefined;
  return isKept || adopt === owner.id ? undefined : "bucket_foreign";
}

export function adoptionLine({ owner }: FoundBucket, { name, owner: own }: BucketClaim): string {
  if (owner?.released !== undefined && owner.owner === own)
    return `The bucket ${name} is adopted with its data: this stack kept it when it was destroyed on ${owner.released.slice(0, 10)}.`;
  return `The bucket ${name} is adopted with its data, as steward:adoptBucket confirms.`;
}

export async function foreignError(
  access: AccountAccess,
  code: ErrorCode,
  { owner }: FoundBucket,
  { name, owner: own }: BucketClaim,
): Promise<StewardError> {
  const free = await freeBucketName(access, name);
  const { cause, condition } =
    owner === undefined
      ? { cause: await describeUnmarked(access, name), condition: "the bucket is yours" }
      : describeOwner(name, owner, own);
  return new StewardError(code, cause, {
    fix: ({ configSet }) =>
      [
        configSet("steward:bucketName", free),
        `  or, if ${condition}: ${configSet("steward:adoptBucket", owner?.id ?? name)}`,
      ].join("\n"),
  });
}

interface Refusal {
  cause: string;
  condition: string;
}

function describeOwner(name: string, { owner, since }: BucketOwner, own: string): Refusal {
  const [project, stack] = owner.split("/");
  const isSame = owner === own;
  const whose = isSame
    ? "another deployment of this stack's name, which is not in this state"
    : `the stack ${stack} of the project ${project}`;
  return {
    cause: `The bucket ${name} belongs to ${whose}, since ${since.slice(0, 10)}.`,
    condition: isSame ? "that was this stack and its state is lost" : "that stack is gone for good",
  };
}

async function describeUnmarked(access: AccountAccess, name: string): Promise<string> {
  const { keys } = await readContent(access, name);
  const backups = keys.some((key) => key.startsWith(BUCKET_KEYS.generations)) ? "with" : "without";
  const content = keys.length === 0 ? "is empty" : `holds objects, ${backups} steward's backups among them`;
  return `The bucket ${name} exists, has no owner marker, and ${content}.`;
}

async function freeBucketName(access: AccountAccess, name: string): Promise<string> {
  for (let number = 2; ; number += 1) {
    const candidate = fittingName(name, LONGEST.bucket, `-${number}`);
    if ((await findBucket(access, candidate)) === undefined) return candidate;
  }
}

export function renameError({ name }: BucketClaim, former: string): StewardError {
  const cause = `The bucket would change from ${former} to ${name}, and ${former} would be emptied.`;
  return new StewardError("bucket_rename_empties", cause, {
    fix: ({ configSet, pulumi }) =>
      [
        configSet("steward:bucketName", former),
        `  or, to leave ${former} behind with its data, before the name changes: ${configSet("steward:bucketOnDestroy", "keep")}, then ${pulumi("up")}`,
      ].join("\n"),
  });
}

export function retainedBucketText(
  { name, accountId }: BucketClaim,
  content: string,
  commands: OperatorCommands,
): string {
  return [
    `The bucket ${name} stays, with ${content} (steward:bucketOnDestroy is keep).`,
    `  To use it again: ${commands.pulumi("up")}`,
    `  To remove it: empty and delete it at https://dash.cloudflare.com/${accountId}/r2/default/buckets/${name}`,
  ].join("\n");
}

export function formatObjectCount(count: number): string {
  return count === 1 ? "1 object" : `${count.toLocaleString("en")} objects`;
}
