import { structuredPatch } from "diff";
import { createRedactor } from "../../shared/redact.ts";

const CONTEXT_LINES = 2;
/** Maximum number of changed lines in a diff. For more lines, the search for the shortest diff takes too long. */
const MAX_CHANGES = 500;
const LONGEST = 8_000;

/**
 * Returns a diff of at most 8 kB: lines that begin with `+`, `-` or a space, in groups headed by `@`. Returns
 * `undefined` if nothing or too much changed. Redacts what looks like a secret; the caller must redact known secrets.
 */
export function diffText(before: string, after: string): string | undefined {
  const redact = createRedactor({});
  const read = (text: string): string => {
    const clean = redact(text);
    return clean.endsWith("\n") ? clean : `${clean}\n`;
  };
  const options = { context: CONTEXT_LINES, maxEditLength: MAX_CHANGES };
  const patch = structuredPatch("", "", read(before), read(after), undefined, undefined, options);
  if (patch === undefined || patch.hunks.length === 0) return undefined;
  const lines: string[] = [];
  for (const hunk of patch.hunks) lines.push(`@ line ${hunk.newStart}`, ...hunk.lines);
  let room = LONGEST;
  const last = lines.findIndex((line) => {
    room -= line.length + 1;
    return room < 0;
  });
  return (last === -1 ? lines : [...lines.slice(0, last), "@ further changes omitted"]).join("\n");
}
