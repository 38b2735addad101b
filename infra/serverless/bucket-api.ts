import type Cloudflare from "cloudflare";
import * as z from "zod/mini";
import { BUCKET_KEYS } from "../../runtime/contract/backup.ts";
import { parseJson } from "../../runtime/shared/json.ts";
import { unlessGone } from "./container-api.ts";

/** A bucket of an account. */
export interface BucketPlace {
  accountId: string;
  name: string;
}

const time = z.iso.datetime();

const bucketOwner = z.object({
  version: z.literal(1),
  /** Equal to the id in the state of the stack that owns the bucket. Every state has an id of its own. */
  id: z.string(),
  /** `<project>/<stack>` */
  owner: z.string(),
  since: time,
  /** Time at which the stack was destroyed and the bucket was kept. */
  released: z.optional(time),
});

/** Content of the marker object, which names the stack that owns the bucket. */
export type BucketOwner = z.infer<typeof bucketOwner>;

/** A bucket that exists. */
export interface FoundBucket {
  /** `undefined` if there is no marker, or if this version cannot read it. */
  owner: BucketOwner | undefined;
}

/** Returns a bucket with its marker; `undefined` if there is no bucket of that name. */
export async function findBucket(client: Cloudflare, place: BucketPlace): Promise<FoundBucket | undefined> {
  const bucket = await client.r2.buckets.get(place.name, { account_id: place.accountId }).catch(unlessGone);
  if (bucket === undefined) return undefined;
  const marker = await client.r2.buckets.objects.get(BUCKET_KEYS.owner, inBucket(place)).catch(unlessGone);
  const read = bucketOwner.safeParse(parseJson((await marker?.text()) ?? ""));
  return { owner: read.data };
}

/** Creates a bucket. An existing bucket is not an error: the response to a first attempt may have been lost. */
export async function createBucket(client: Cloudflare, { accountId, name }: BucketPlace): Promise<void> {
  await client.r2.buckets
    .create({ account_id: accountId, name, storageClass: "Standard" })
    .catch((error: unknown) => {
      if (statusOf(error) !== 409) throw error;
    });
}

/** Writes the marker. */
export async function writeOwner(client: Cloudflare, place: BucketPlace, owner: BucketOwner): Promise<void> {
  const content = Buffer.from(`${JSON.stringify(owner, undefined, 2)}\n`);
  const headers = { "content-type": "application/json" };
  await client.r2.buckets.objects.upload(BUCKET_KEYS.owner, content, inBucket(place), { headers });
}

/** Keys of up to 1,000 objects in a bucket, without the marker. */
interface BucketContent {
  keys: string[];
  isMore: boolean;
}

/**
 * Maximum page size:
 * https://developers.cloudflare.com/api/resources/r2/subresources/buckets/subresources/objects/methods/list/
 */
const PAGE = 1000;
/**
 * Number of concurrent requests. An account accepts 1,200 requests in five minutes, and then answers 429 for a while.
 */
const PARALLEL = 8;
const RETRIES = 50;
const PASSES = 5;
const PASS_MS = 2_000;

/** Lists a bucket's first objects. A page may have fewer objects than requested, or only the marker. */
export async function readContent(client: Cloudflare, place: BucketPlace): Promise<BucketContent> {
  const keys: string[] = [];
  const params = { account_id: place.accountId, per_page: PAGE };
  for await (const { key } of client.r2.buckets.objects.list(place.name, params)) {
    if (key === undefined || key === BUCKET_KEYS.owner) continue;
    if (keys.length === PAGE) return { keys, isMore: true };
    keys.push(key);
  }
  return { keys, isMore: false };
}

/**
 * Deletes every object of a bucket, page by page and the marker last, and then the bucket. Objects that are written
 * meanwhile are deleted too.
 *
 * @param progress called with the number of objects deleted so far, not counting the marker, while more are left
 * @returns the number of deleted objects, not counting the marker
 */
export async function removeBucket(
  client: Cloudflare,
  place: BucketPlace,
  progress: (deleted: number) => void,
): Promise<number> {
  let deleted = 0;
  for (let pass = 1; ; pass += 1) {
    for (let isMore = true; isMore;) {
      const content = await readContent(client, place);
      await deleteObjects(client, place, content.keys);
      deleted += content.keys.length;
      ({ isMore } = content);
      if (isMore) progress(deleted);
    }
    await deleteObjects(client, place, [BUCKET_KEYS.owner]);
    try {
      await client.r2.buckets.delete(place.name, { account_id: place.accountId }).catch(unlessGone);
      return deleted;
    } catch (error) {
      // The bucket is not empty: a container that was shutting down has written its last backup. The next pass deletes
      // the backup too.
      if (statusOf(error) !== 409 || pass === PASSES) throw error;
      await new Promise((resolve) => setTimeout(resolve, PASS_MS));
    }
  }
}

async function deleteObjects(client: Cloudflare, place: BucketPlace, keys: readonly string[]): Promise<void> {
  const left = keys.toReversed();
  const root = `/accounts/${place.accountId}/r2/buckets/${place.name}/objects`;
  const work = async (): Promise<void> => {
    for (let key = left.pop(); key !== undefined; key = left.pop()) {
      // The client's own method encodes slashes, but Cloudflare expects them as they are.
      const path = key.split("/").map(encodeURIComponent).join("/");
      await client.delete(`${root}/${path}`, { maxRetries: RETRIES }).catch(unlessGone);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}

function inBucket({ accountId, name }: BucketPlace): { account_id: string; bucket_name: string } {
  return { account_id: accountId, bucket_name: name };
}

function statusOf(error: unknown): unknown {
  return error instanceof Error && "status" in error ? error.status : undefined;
}
