import { structuredPatch } from "diff";
import { createRedactor } from "../../shared/redact.ts";

const CONTEXT_LINES = 2;
/** Above this, finding the shortest diff takes too long. */
const MOST_CHANGES = 500;
const LONGEST = 8_000;

/**
 * Returns what a change did to a text: lines after `+`, `-` or a blank, each group of them after a line that begins with
 * `@`. `undefined` if nothing changed, or too much to be found out. At most 8 kB; a last line says that more was cut. What
 * looks like a secret is masked; both texts have to be free of others.
 */
export function diffText(before: string, after: string): string | undefined {
  const redact = createRedactor({});
  const read = (text: string): string => {
    const clean = redact(text);
    return clean.endsWith("\n") ? clean : `${clean}\n`;
  };
  const options = { context: CONTEXT_LINES, maxEditLength: MOST_CHANGES };
  const patch = structuredPatch("", "", read(before), read(after), undefined, undefined, options);
  if (patch === undefined || patch.hunks.length === 0) return undefined;
  const lines: string[] = [];
  for (const hunk of patch.hunks) lines.push(`@ line ${hunk.newStart}`, ...hunk.lines);
  let room = LONGEST;
  const last = lines.findIndex((line) => {
    room -= line.length + 1;
    return room < 0;
  });
  return (last === -1 ? lines : [...lines.slice(0, last), "@ more was cut"]).join("\n");
}
