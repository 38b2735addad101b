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
 * Returns the default name of what a gateway has in an account: project, stack and the component's name, and `-steward`.
 * Project and component are left out where they are called `steward`. See {@link fittingName}.
 */
export function defaultName(
  { project, stack, name }: { project: string; stack: string; name: string },
  longest: number,
): string {
  const parts = [...[project].filter(isOther), stack, ...[name].filter(isOther)];
  return fittingName(parts.join("-"), longest, `-${AGENT}`);
}

function isOther(part: string): boolean {
  return part !== AGENT;
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
