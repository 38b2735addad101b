import { createHash } from "node:crypto";
import { AGENT } from "../../runtime/contract/names.ts";

/** https://developers.cloudflare.com/r2/buckets/create-buckets/#bucket-level-operations */
export const BUCKET_NAME = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/;

/**
 * Pattern of a Worker's name. Preview addresses prepend 8 digits and a dash to the name, which leaves 54 of a DNS
 * label's 63 characters: https://github.com/cloudflare/workers-sdk/issues/3227
 */
export const WORKER_NAME = /^[a-z0-9]([a-z0-9-]{0,52}[a-z0-9])?$/;

/** Maximum lengths. */
export const LONGEST = { bucket: 63, worker: 54 } as const;

const DIGEST_LENGTH = 6;

/** Returns the name of a Worker's container application, at most 62 characters. */
export function applicationName(workerName: string): string {
  return `${workerName}-sandbox`;
}

/** Returns the default name `<project>-<stack>-<component>-steward`. Omits a project or component named `steward`. */
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
 * Converts a string to a name of lower-case letters, digits and inner dashes, and appends `ending`. Truncates a long
 * name and inserts a digest of the string, which keeps names distinct.
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
