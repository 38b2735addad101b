import { type Fence, fences } from "./markdown.ts";

/** Places where text may be cut, best first: between paragraphs, lines, sentences, words. */
const CUTS = [/\n[ \t]*\n/g, /\n/g, /[.!?…](?=\s)|[。！？]/g, /[ \t]/g] as const;
/** A cut that leaves less than this share of the limit is taken only when there is no other. */
const SMALLEST_SHARE = 0.3;
/** So many parts ahead are looked at for a cut. A code block that ends later is too long for a part anyway. */
const LOOK_AHEAD = 4;

/**
 * Splits a text into parts of at most `limit` characters (UTF-16 units): at a paragraph, else a
 * line, else a sentence, else a space, else anywhere but inside a character.
 *
 * A fenced code block is never cut while it fits into a part of its own. One that does not is cut
 * at a line, closed at the end of the part and opened again, with its language, in the next.
 */
export function splitText(text: string, limit: number): string[] {
  const parts: string[] = [];
  const whole = text.trimEnd();
  let position = 0;
  /** The line that opens a code block again, if the part before had to cut it. */
  let reopened = "";
  while (reopened.length + whole.length - position > limit) {
    // A cut depends on what is near it: looking at all of the rest each time would take quadratic time.
    const ahead = reopened + whole.slice(position, position + LOOK_AHEAD * limit);
    const { part, taken, opening } = cutOnce(ahead, limit);
    if (part.trim() !== "") parts.push(part);
    position += taken - reopened.length;
    reopened = opening;
  }
  const rest = reopened + whole.slice(position);
  if (rest.trim() !== "") parts.push(rest);
  return parts;
}

/** A part, and where the next one begins. */
interface Cut {
  part: string;
  /** Characters of the text that it used up. */
  taken: number;
  /** The line that the next part begins with: empty, or the opening of a code block that was cut. */
  opening: string;
}

function cutOnce(text: string, limit: number): Cut {
  const blocks = fences(text.slice(0, 2 * limit + 1));
  const position = bestCut(text, limit, blocks);
  if (position !== undefined) {
    const gap = /^(?:[ \t]*\n)+|^ +/.exec(text.slice(position))?.[0] ?? "";
    return { part: text.slice(0, position).trimEnd(), taken: position + gap.length, opening: "" };
  }
  const block = blocks.find(({ start, end }) => start < limit && end > limit);
  return block !== undefined && block.start === 0 ? cutFence(text, limit, block) : cutAnywhere(text, limit);
}

/** The last place of the best kind, outside of every fenced block. */
function bestCut(text: string, limit: number, blocks: readonly Fence[]): number | undefined {
  const window = text.slice(0, limit + 1);
  let small: number | undefined;
  for (const kind of CUTS) {
    let last: number | undefined;
    // Places and blocks are both in the order of the text.
    let at = 0;
    for (const { index, 0: match } of window.matchAll(kind)) {
      const place = match.trim() === "" ? index : index + match.length;
      while ((blocks[at]?.end ?? Number.POSITIVE_INFINITY) <= place) at += 1;
      const isInside = place > (blocks[at]?.start ?? Number.POSITIVE_INFINITY);
      if (place > 0 && place <= limit && !isInside) last = place;
    }
    if (last === undefined) continue;
    if (last >= limit * SMALLEST_SHARE) return last;
    small = Math.max(small ?? 0, last);
  }
  return small;
}

/** Cuts a fenced block that is longer than a part can be; `text` starts with it. */
function cutFence(text: string, limit: number, { opening, closing }: Fence): Cut {
  const head = opening.length * 2 > limit ? closing : opening;
  const body = text.slice(opening.length + 1);
  const room = limit - head.length - closing.length - 2;
  // A marker so long that a part repeating it would hold nothing else, or not even itself; or a line without an end.
  if (room < limit / 4 || opening.length > 2 * limit) return cutAnywhere(text, limit);
  const line = body.lastIndexOf("\n", room);
  const position = line > 0 ? line : safe(body, room);
  const taken = opening.length + 1 + position + (body[position] === "\n" ? 1 : 0);
  return { part: `${head}\n${body.slice(0, position)}\n${closing}`, taken, opening: `${head}\n` };
}

function cutAnywhere(text: string, limit: number): Cut {
  const position = safe(text, limit);
  return { part: text.slice(0, position), taken: position, opening: "" };
}

/** A position at or before `position` that does not cut a surrogate pair. */
function safe(text: string, position: number): number {
  const code = text.charCodeAt(position - 1);
  return code >= 0xd800 && code <= 0xdbff && position > 1 ? position - 1 : position;
}
