import * as z from "zod/mini";
import { BUCKET_KEYS } from "../../runtime/contract/backup.ts";
import { parseJson } from "../../runtime/shared/json.ts";
import {
  type AccountAccess,
  AccountError,
  askAccount,
  callAccount,
  listInAccount,
  textInAccount,
  ignoreNotFound,
} from "./account-api.ts";

const time = z.iso.datetime();

const bucketOwner = z.object({
  version: z.literal(1),
  /** Id of the owning stack's state. Each state has a unique id. */
  id: z.string(),
  /** `<project>/<stack>` */
  owner: z.string(),
  since: time,
  /** Time at which the stack was destroyed without its bucket. */
  released: z.optional(time),
});

/** Content of the marker object, which names the stack that owns the bucket. */
export type BucketOwner = z.infer<typeof bucketOwner>;

export interface FoundBucket {
  /** `undefined` if the bucket's ownership marker is missing or this version cannot read it. */
  owner: BucketOwner | undefined;
}

/** Returns a bucket with its owner's marker; `undefined` if there is no such bucket. */
export async function findBucket(access: AccountAccess, name: string): Promise<FoundBucket | undefined> {
  if ((await askAccount(access, pathOf(name))) === undefined) return undefined;
  const marker = await textInAccount(access, pathOf(name, BUCKET_KEYS.owner)).catch(ignoreNotFound);
  const read = bucketOwner.safeParse(parseJson(marker ?? ""));
  return { owner: read.data };
}

/** Creates a bucket. Accepts an existing one, which an earlier attempt may have created. */
export async function createBucket(access: AccountAccess, name: string): Promise<void> {
  const body = { name, storageClass: "Standard" };
  await callAccount(access, "r2/buckets", { method: "POST", body }).catch((error: unknown) => {
    if (!isConflict(error)) throw error;
  });
}

export async function writeOwner(access: AccountAccess, name: string, owner: BucketOwner): Promise<void> {
  const body = `${JSON.stringify(owner, undefined, 2)}\n`;
  await callAccount(access, pathOf(name, BUCKET_KEYS.owner), { method: "PUT", body });
}

/** First object keys of a bucket, at most 1,000. Excludes the owner's marker. */
interface BucketContent {
  keys: string[];
  isMore: boolean;
}

/**
 * Maximum page size:
 * https://developers.cloudflare.com/api/resources/r2/subresources/buckets/subresources/objects/methods/list/
 */
const PAGE = 1000;
/** Number of parallel deletions. Low, because the API allows only 1,200 requests per account in five minutes. */
const PARALLEL = 8;
const DELETE_ATTEMPTS = 50;
/**
 * Maximum passes of {@link removeBucket}. The pauses between them give a stopping container 14 s for its last backup.
 */
const PASSES = 8;
const PASS_MS = 2_000;

/** Lists the keys of up to 1,000 objects in a bucket. */
export async function readContent(access: AccountAccess, name: string): Promise<BucketContent> {
  const keys: string[] = [];
  const query = { per_page: String(PAGE) };
  for await (const { key } of listInAccount<{ key?: string }>(access, `${pathOf(name)}/objects`, query)) {
    if (key === undefined || key === BUCKET_KEYS.owner) continue;
    if (keys.length === PAGE) return { keys, isMore: true };
    keys.push(key);
  }
  return { keys, isMore: false };
}

/**
 * Empties and deletes a bucket. Deletes the ownership marker last and does not count it.
 *
 * @param progress called after each batch if more objects remain, with the number deleted so far
 * @returns the number of deleted objects
 */
export async function removeBucket(
  access: AccountAccess,
  name: string,
  progress: (deleted: number) => void,
): Promise<number> {
  let deleted = 0;
  for (let pass = 1; ; pass += 1) {
    for (let isMore = true; isMore;) {
      const content = await readContent(access, name);
      await deleteObjects(access, name, content.keys);
      deleted += content.keys.length;
      ({ isMore } = content);
      if (isMore) progress(deleted);
    }
    await deleteObjects(access, name, [BUCKET_KEYS.owner]);
    try {
      await askAccount(access, pathOf(name), { method: "DELETE" });
      return deleted;
    } catch (error) {
      // A conflict means that the bucket is not empty: a stopping container may have written its last backup after
      // the bucket was emptied. Retry.
      if (!isConflict(error) || pass === PASSES) throw error;
      await new Promise((resolve) => setTimeout(resolve, PASS_MS));
    }
  }
}

async function deleteObjects(access: AccountAccess, name: string, keys: readonly string[]): Promise<void> {
  const left = keys.toReversed();
  const work = async (): Promise<void> => {
    for (let key = left.pop(); key !== undefined; key = left.pop()) {
      await askAccount(access, pathOf(name, key), { method: "DELETE", attempts: DELETE_ATTEMPTS });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}

/** Returns the API path of a bucket or object. Cloudflare expects the slashes in an object's key unescaped. */
function pathOf(name: string, key?: string): string {
  const bucket = `r2/buckets/${name}`;
  return key === undefined ? bucket : `${bucket}/objects/${key.split("/").map(encodeURIComponent).join("/")}`;
}

/** Returns true for Cloudflare's 409: the bucket already exists, or a bucket to delete is not empty. */
export function isConflict(error: unknown): boolean {
  return error instanceof AccountError && error.status === 409;
}
