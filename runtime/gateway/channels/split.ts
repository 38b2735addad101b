import { type Fence, fences } from "./markdown.ts";

/** Places where text may be cut, best first: between paragraphs, lines, sentences, words. */
const CUTS = [/\n[ \t]*\n/g, /\n/g, /[.!?…](?=\s)|[。！？]/g, /[ \t]/g] as const;
/** A cut that leaves less than this share of the limit is taken only when there is no other. */
const SMALLEST_SHARE = 0.3;

/**
 * Splits a text into parts of at most `limit` characters (UTF-16 units): at a paragraph, else a
 * line, else a sentence, else a space, else anywhere but inside a character.
 *
 * A fenced code block is never cut while it fits into a part of its own. One that does not is cut
 * at a line, closed at the end of the part and opened again, with its language, in the next.
 */
export function splitText(text: string, limit: number): string[] {
  const parts: string[] = [];
  let rest = text.trimEnd();
  while (rest.length > limit) {
    const [part, remainder] = cutOnce(rest, limit);
    if (part.trim() !== "") parts.push(part);
    rest = remainder;
  }
  if (rest.trim() !== "") parts.push(rest);
  return parts;
}

function cutOnce(text: string, limit: number): [part: string, rest: string] {
  const blocks = fences(text);
  const position = bestCut(text, limit, blocks);
  if (position !== undefined) {
    return [text.slice(0, position).trimEnd(), text.slice(position).replace(/^(?:[ \t]*\n)+|^ +/, "")];
  }
  const block = blocks.find(({ start, end }) => start < limit && end > limit);
  return block !== undefined && block.start === 0 ? cutFence(text, limit, block) : cutAnywhere(text, limit);
}

/** The last place of the best kind, outside of every fenced block. */
function bestCut(text: string, limit: number, blocks: readonly Fence[]): number | undefined {
  const window = text.slice(0, limit + 1);
  let small: number | undefined;
  for (const kind of CUTS) {
    const places = [...window.matchAll(kind)]
      .map(({ index, 0: match }) => (match.trim() === "" ? index : index + match.length))
      .filter((place) => place > 0 && place <= limit)
      .filter((place) => !blocks.some(({ start, end }) => place > start && place < end));
    const last = places.at(-1);
    if (last === undefined) continue;
    if (last >= limit * SMALLEST_SHARE) return last;
    small = Math.max(small ?? 0, last);
  }
  return small;
}

/** Cuts a fenced block that is longer than a part can be; `text` starts with it. */
function cutFence(text: string, limit: number, { opening, closing }: Fence): [string, string] {
  const head = opening.length * 2 > limit ? closing : opening;
  const body = text.slice(opening.length + 1);
  const room = limit - head.length - closing.length - 2;
  // A marker so long that a part repeating it would hold nothing else, or not even itself.
  if (room < limit / 4) return cutAnywhere(text, limit);
  const line = body.lastIndexOf("\n", room);
  const position = line > 0 ? line : safe(body, room);
  const rest = body.slice(position).replace(/^\n/, "");
  return [`${head}\n${body.slice(0, position)}\n${closing}`, `${head}\n${rest}`];
}

function cutAnywhere(text: string, limit: number): [string, string] {
  const position = safe(text, limit);
  return [text.slice(0, position), text.slice(position)];
}

/** A position at or before `position` that does not cut a surrogate pair. */
function safe(text: string, position: number): number {
  const code = text.charCodeAt(position - 1);
  return code >= 0xd800 && code <= 0xdbff && position > 1 ? position - 1 : position;
}
