import { shortHash } from "./short-hash.ts";

/** Longest stored name, in characters. */
const LONGEST_NAME = 200;
/**
 * Characters that overwrite, reverse or break a line. Joiners are allowed because emoji and several scripts need them.
 */
const COMMANDS = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/gu;

/** Returns a name as one line of plain text, or `undefined` if none of it is visible. */
export function displayName(name: unknown): string | undefined {
  if (typeof name !== "string") return undefined;
  // Cut first, to bound the work of the regular expressions below.
  const line = name
    .slice(0, 4 * LONGEST_NAME)
    .replace(COMMANDS, " ")
    .replace(/\s+/g, " ")
    .trim();
  if (!/[^\p{C}\p{Z}\p{M}]/u.test(line)) return undefined;
  return line.slice(0, LONGEST_NAME).toWellFormed();
}

/** Returns an avatar's hue in degrees: one of twelve, always the same for an id. */
export function hueOf(id: string): number {
  return (shortHash(id) % 12) * 30;
}
