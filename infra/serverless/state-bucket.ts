import { randomUUID } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import { StewardError } from "../../runtime/contract/errors.ts";
import { type ConnectionArgs, OwnResource } from "../shell/resource.ts";
import type { ResourceProvider } from "../shell/provider.ts";
import { commandsFor } from "../shell/package.ts";
import { accessTo, rethrowAsUnknown } from "./account-api.ts";
import {
  type BucketOwner,
  createBucket,
  findBucket,
  isConflict,
  readContent,
  removeBucket,
  writeOwner,
} from "./bucket-api.ts";
import {
  adoptionLine,
  type BucketClaim,
  foreignCode,
  foreignError,
  retainedBucketText,
  formatObjectCount,
  renameError,
} from "./bucket-ownership.ts";
import { say } from "../shell/connection.ts";

interface BucketInputs extends BucketClaim {
  onDestroy: OnDestroy;
}

/** Handling of a non-empty bucket when the stack is destroyed. */
type OnDestroy = "keep" | "empty";

/** Inputs that the program passes. The name may be missing if the stack's state contains it. */
interface GivenInputs extends Omit<BucketInputs, "name"> {
  name?: string | undefined;
  defaultName: string;
}

/** Outputs in the stack's state. A bucket migrated from the official `R2Bucket` has only account and name. */
interface BucketOutputs extends BucketInputs {
  ownerId?: string | undefined;
}

export const stateBucketProvider: ResourceProvider<BucketInputs, BucketOutputs> = {
  /** Chooses the bucket's name. If the stack does not use that bucket yet, checks the bucket's owner. */
  async check(olds: Partial<BucketInputs>, news: BucketInputs & Partial<GivenInputs>) {
    const { defaultName = "", name: configured, ...given } = news;
    const inputs: BucketInputs = { ...given, name: configured ?? olds.name ?? defaultName };
    if (olds.name === inputs.name && olds.accountId === inputs.accountId) return inputs;
    if (olds.name !== undefined && olds.onDestroy === "empty") throw renameError(inputs, olds.name);
    if (olds.name !== undefined)
      say(
        `The bucket changes from ${olds.name} to ${inputs.name}, which starts empty. ${olds.name} is kept.`,
      );
    const access = accessTo(inputs.accountId);
    const found = await findBucket(access, inputs.name).catch(
      rethrowAsUnknown(`the bucket ${inputs.name} exists`),
    );
    if (found === undefined) return inputs;
    const refused = foreignCode(found, inputs);
    if (refused !== undefined) throw await foreignError(access, refused, found, inputs);
    say(adoptionLine(found, inputs));
    return inputs;
  },

  async diff(_id, olds, news) {
    const replaces = (["accountId", "name"] as const).filter((key) => olds[key] !== news[key]);
    const changes =
      replaces.length > 0 ||
      olds.ownerId === undefined ||
      olds.owner !== news.owner ||
      olds.onDestroy !== news.onDestroy;
    return { changes, replaces };
  },

  async create(inputs) {
    const access = accessTo(inputs.accountId);
    const found = await findBucket(access, inputs.name);
    const refused = found && foreignCode(found, inputs);
    if (found !== undefined && refused !== undefined)
      throw await foreignError(access, refused, found, inputs);
    if (found === undefined) await createBucket(access, inputs.name);
    const outs = { ...inputs, ownerId: randomUUID() };
    await mark(outs).catch((error: Error) => {
      // The bucket exists, but has no marker. With these properties, Pulumi records the bucket, and the next update
      // writes the marker.
      throw Object.assign(error, { id: inputs.name, properties: outs });
    });
    return { id: inputs.name, outs };
  },

  /**
   * Reads the bucket. If the marker belongs to another stack, reports a changed owner. The next update then rejects
   * the bucket, unless this stack may adopt it.
   */
  async read(id, props) {
    const found = await findBucket(accessTo(props.accountId), props.name);
    if (found === undefined) return { id: "" };
    if (props.ownerId === undefined) return { id, props };
    const { owner: marker } = found;
    const owner = marker?.released === undefined ? (marker?.owner ?? "") : `${marker.owner} (released)`;
    const seen = {
      ...props,
      owner: marker === undefined || marker.id === props.ownerId ? owner : otherOwner(marker),
    };
    return { id, inputs: seen, props: seen };
  },

  async update(_id, olds, news) {
    const access = accessTo(news.accountId);
    const found = await findBucket(access, news.name);
    if (found === undefined) throw new StewardError("bucket_gone", `The bucket ${news.name} is gone.`);
    const refused = isOther(found.owner, olds) ? foreignCode(found, news) : undefined;
    if (refused !== undefined) throw await foreignError(access, refused, found, news);
    const outs = { ...news, ownerId: olds.ownerId ?? randomUUID() };
    await mark(outs, found.owner);
    return { outs };
  },

  async delete(_id, props) {
    const access = accessTo(props.accountId);
    const found = await findBucket(access, props.name);
    if (found === undefined) return;
    if (isOther(found.owner, props)) {
      say(`The bucket ${props.name} belongs to ${found.owner?.owner} and is kept.`);
      return;
    }
    const { keys, isMore } = await readContent(access, props.name);
    if (keys.length > 0 && props.onDestroy !== "empty") {
      await mark(props, found.owner, new Date());
      const content = `${isMore ? "more than " : ""}${formatObjectCount(keys.length)}`;
      say(retainedBucketText(props, content, commandsFor(props.owner.split("/")[1])));
      return;
    }
    const progress = (count: number) =>
      say(`Emptying the bucket ${props.name}: ${formatObjectCount(count)} deleted`);
    const deleted = await removeBucket(access, props.name, progress).catch((error: unknown) => {
      if (isConflict(error))
        throw new StewardError("bucket_not_empty", `Cloudflare refuses to delete the bucket ${props.name}.`);
      throw error;
    });
    if (deleted > 0) say(`Deleted the bucket ${props.name} with ${formatObjectCount(deleted)}.`);
  },
};

async function mark(
  { accountId, name, owner, ownerId }: BucketOutputs,
  former?: BucketOwner,
  released?: Date,
): Promise<void> {
  const id = ownerId ?? randomUUID();
  const since = former?.id === id ? former.since : new Date().toISOString();
  const times = { since, ...(released && { released: released.toISOString() }) };
  await writeOwner(accessTo(accountId), name, { version: 1, id, owner, ...times });
}

function isOther(marker: BucketOwner | undefined, { ownerId }: BucketOutputs): boolean {
  return marker !== undefined && marker.id !== ownerId;
}

function otherOwner({ owner, id }: BucketOwner): string {
  return `${owner} (${id})`;
}

export interface StateBucketArgs {
  accountId: pulumi.Input<string>;
  /** Bucket name. Default: the name in the stack's state, else `defaultName`. */
  name?: pulumi.Input<string> | undefined;
  defaultName: string;
  /** `<project>/<stack>`, for the marker. */
  owner: string;
  onDestroy: OnDestroy;
  /** See `steward:adoptBucket`. */
  adopt?: string | undefined;
  /** Refuses to delete the bucket. Default: false. */
  protect?: boolean;
  connection?: ConnectionArgs | undefined;
}

/**
 * The R2 bucket with the config file and backups. A marker object names the owning stack; a preview rejects another
 * stack's bucket. Destroying the stack keeps a non-empty bucket, unless `onDestroy` is `empty`.
 */
export class StateBucket extends OwnResource {
  /** Name of the bucket, known in every preview. */
  declare readonly name: pulumi.Output<string>;

  constructor(name: string, args: StateBucketArgs, opts?: pulumi.CustomResourceOptions) {
    const { protect, ...given } = args;
    const inputs = { name: undefined, ...given, ownerId: undefined };
    super("serverless:StateBucket", name, inputs, { ...(protect === true && { protect }), ...opts });
  }
}
