import { structuredPatch } from "diff";
import { html } from "hono/html";
import type { Markup } from "./layout.ts";

const CONTEXT_LINES = 3;
/** Beyond, finding the shortest change takes too long, and nobody would read it: all is shown as replaced. */
const MOST_CHANGES = 1_000;

/** Lines that belong together. */
interface Hunk {
  /** The first line's number in the new text. */
  at: number;
  /** Each with its sign before it: a blank, `+` or `-`. */
  lines: string[];
}

/** What changes between two texts, by line, each told by sign, word and colour. */
export function diffPart(before: string, after: string): Markup {
  const hunks = compare(before, after);
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
  if (hunks.length === 0) return html`<p>Nothing changes.</p>`;
  return html`<p>${plural(count("+"))} added, ${plural(count("-"))} removed.</p>
    ${hunks.map(
      (hunk) =>
        html`<pre class="diff" role="region" tabindex="0" aria-label="Change at line ${hunk.at}">
${hunk.lines.map(diffLine)}</pre>`,
    )}`;
}

function diffLine(line: string): Markup {
  const [sign, text] = [line.slice(0, 1), line.slice(1)];
  if (sign === "+") return html`<ins><i class="unseen">added </i>+ ${text}</ins>`;
  if (sign === "-") return html`<del><i class="unseen">removed </i>- ${text}</del>`;
  return html`<span>&nbsp; ${text}</span>`;
}

function compare(before: string, after: string): Hunk[] {
  const [old, made] = [ended(before), ended(after)];
  const options = { context: CONTEXT_LINES, maxEditLength: MOST_CHANGES };
  const patch = structuredPatch("", "", old, made, undefined, undefined, options);
  if (patch !== undefined) return patch.hunks.map(({ newStart, lines }) => ({ at: newStart, lines }));
  const signed = (sign: string, text: string): string[] =>
    text
      .split("\n")
      .slice(0, -1)
      .map((line) => `${sign}${line}`);
  return [{ at: 1, lines: [...signed("-", old), ...signed("+", made)] }];
}

/** With line feeds alone, as a form's field is read, and one at the end. */
function ended(text: string): string {
  const lines = text.replaceAll("\r\n", "\n");
  return lines === "" || lines.endsWith("\n") ? lines : `${lines}\n`;
}

function plural(count: number): string {
  return `${count} line${count === 1 ? "" : "s"}`;
}
