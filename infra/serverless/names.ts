import { createHash } from "node:crypto";
import { AGENT } from "../../runtime/contract/names.ts";

/** R2's rule: https://developers.cloudflare.com/r2/buckets/create-buckets/#bucket-level-operations */
export const BUCKET_NAME = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/;

/**
 * A Worker's name is a label of its address on workers.dev. A version's preview puts 8 digits and a dash before it, and
 * a label has 63 characters at most: https://github.com/cloudflare/workers-sdk/issues/3227
 */
export const WORKER_NAME = /^[a-z0-9]([a-z0-9-]{0,52}[a-z0-9])?$/;

/** Longest names by {@link BUCKET_NAME} and {@link WORKER_NAME}. */
export const LONGEST = { bucket: 63, worker: 54 } as const;

const DIGEST_LENGTH = 6;

/** Returns the name of the container application that belongs to a Worker. It has 62 characters at most. */
export function applicationName(workerName: string): string {
  return `${workerName}-sandbox`;
}

/**
 * Returns the bucket's name where the configuration gives none: the stack's name and `-steward`, with the project's name
 * before it unless that is `steward`. What R2 does not allow is replaced, as {@link fittingName} does.
 */
export function defaultBucketName(project: string, stack: string): string {
  const parts = project === AGENT ? [stack] : [project, stack];
  return fittingName(parts.join("-"), LONGEST.bucket, `-${AGENT}`);
}

/**
 * Returns a name of lower-case letters, digits and inner dashes that is as near to a text as possible. One that would be
 * too long is cut, and ends with a digest of the whole text, so that two long texts have two names.
 */
export function fittingName(text: string, longest: number, ending = ""): string {
  const plain = trimmed(text.toLowerCase().replaceAll(/[^a-z0-9-]+/g, "-"));
  const whole = trimmed(`${plain}${ending}`);
  if (whole.length <= longest) return whole;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, DIGEST_LENGTH);
  const room = longest - ending.length - DIGEST_LENGTH - 1;
  return `${trimmed(plain.slice(0, room))}-${digest}${ending}`;
}

function trimmed(text: string): string {
  return text.replaceAll(/^-+|-+$/g, "");
}
