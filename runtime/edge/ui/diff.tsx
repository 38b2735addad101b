import { structuredPatch } from "diff";
import type { Markup } from "./document.tsx";

const CONTEXT_LINES = 3;
/** Maximum number of changed lines. With more, the diff takes too long, so all lines are shown as replaced. */
const MAX_CHANGES = 1_000;

interface Hunk {
  /** Line number in the new text. */
  at: number;
  /** Lines, each with a leading space, `+` or `-`. */
  lines: string[];
}

export function Diff({ before, after }: { before: string; after: string }): Markup {
  const hunks = compare(before, after);
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
  if (hunks.length === 0) return <p>Nothing changes.</p>;
  return (
    <>
      <p>
        {plural(count("+"))} added, {plural(count("-"))} removed.
      </p>
      {hunks.map((hunk) => (
        <pre class="diff" role="region" tabindex={0} aria-label={`Change at line ${hunk.at}`}>
          {hunk.lines.map((line) => (
            <DiffLine sign={line.slice(0, 1)} text={line.slice(1)} />
          ))}
        </pre>
      ))}
    </>
  );
}

function DiffLine({ sign, text }: { sign: string; text: string }): Markup {
  if (sign === "+")
    return (
      <ins>
        <i class="unseen">added </i>+ {text}
      </ins>
    );
  if (sign === "-")
    return (
      <del>
        <i class="unseen">removed </i>- {text}
      </del>
    );
  return <span>&nbsp; {text}</span>;
}

function compare(before: string, after: string): Hunk[] {
  const [old, made] = [ended(before), ended(after)];
  const options = { context: CONTEXT_LINES, maxEditLength: MAX_CHANGES };
  const patch = structuredPatch("", "", old, made, undefined, undefined, options);
  if (patch !== undefined) return patch.hunks.map(({ newStart, lines }) => ({ at: newStart, lines }));
  const signed = (sign: string, text: string): string[] =>
    text
      .split("\n")
      .slice(0, -1)
      .map((line) => `${sign}${line}`);
  return [{ at: 1, lines: [...signed("-", old), ...signed("+", made)] }];
}

/** Normalises line endings to LF and ends the last line with one. */
function ended(text: string): string {
  const lines = text.replaceAll("\r\n", "\n");
  return lines === "" || lines.endsWith("\n") ? lines : `${lines}\n`;
}

function plural(count: number): string {
  return `${count} line${count === 1 ? "" : "s"}`;
}
