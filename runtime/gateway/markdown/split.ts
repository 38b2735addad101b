import { type Block, type Inline, type Item, parseMarkdown } from "./parse.ts";

/**
 * Desired minimum length of a part, as a fraction of the limit. A shorter part is filled up from the following text,
 * if possible (see `fills`).
 */
const SMALLEST_SHARE = 0.3;
/** Part size that fits on every platform, however much rendering expands it. */
const ALWAYS_FITS = 300;

/** Lines that must enclose every part of a split block: the fences of a code block, or the header of a table. */
interface Frame {
  /** Opening fence or table header that begins each part of the block. Ends with a line feed. */
  open: string;
  /** Closing fence that ends each part of the block, without a line feed; empty for a table. */
  close: string;
}

interface Piece {
  source: string;
  /**
   * True if the beginning of this piece may be moved into the preceding part when that part is shorter than {@link
   * SMALLEST_SHARE}.
   */
  fills?: boolean;
  /** True for a heading, which must not end a part. */
  leads?: boolean;
  frame?: Frame;
  /**
   * Cuts the piece into smaller pieces. `limit` is the maximum length of a part. Default: cuts between words or, as a
   * last resort, between characters.
   */
  cut?: (limit: number) => Piece[];
}

/**
 * Splits Markdown into parts of at most `limit` characters (UTF-16 units). Prefers to split between blocks, then
 * between list items, lines, sentences and words. Never splits a surrogate pair.
 *
 * Splits a code block or table only if it does not fit into one part, and then repeats the fences or the table's
 * header in each part.
 *
 * @param share returns the fraction of the platform's limit that a rendered part uses. If the fraction is above 1,
 * the part is split again.
 */
export function splitMarkdown(
  markdown: string,
  limit: number,
  share: (part: string) => number = () => 1,
): string[] {
  const whole = markdown.trimEnd();
  if (whole.trim() === "") return [];
  const parts = whole.length <= limit ? [whole] : pack(parseMarkdown(whole).map(pieceOf), limit);
  return parts.flatMap((part) => {
    const used = part.length <= ALWAYS_FITS ? 0 : share(part);
    return used <= 1 ? [part] : splitMarkdown(part, Math.floor(Math.min(part.length, limit) / used), share);
  });
}

function pack(pieces: readonly Piece[], limit: number): string[] {
  const packer = new Packer(limit);
  for (const piece of pieces) packer.add(piece);
  return packer.end();
}

class Packer {
  readonly #limit: number;
  readonly #parts: string[] = [];
  #part = "";
  #frame: Frame | undefined;
  /**
   * Offset of the heading that ends the current part, or `undefined` if the part does not end with a heading. When
   * the part is full, the heading moves to the next part with the text that it introduces.
   */
  #leads: number | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(piece: Piece): void {
    if (this.#tryAdd(piece)) return;
    const isSmall = this.#part.trim().length < this.#limit * SMALLEST_SHARE;
    const isFilling = isSmall && piece.fills === true && piece.cut !== undefined;
    if (!isFilling) {
      this.#next();
      if (this.#tryAdd(piece)) return;
    }
    if (piece.cut === undefined) this.#cutAnywhere(piece);
    else for (const smaller of piece.cut(this.#limit)) this.add(smaller);
  }

  end(): string[] {
    this.#leads = undefined;
    this.#next();
    return this.#parts;
  }

  #tryAdd({ source, frame, leads }: Piece): boolean {
    const isFramed = frame === this.#frame;
    const before = this.#frame === undefined || isFramed ? "" : separatorAfter(this.#frame);
    const start = this.#part === "" ? source.replace(/^(?:[ \t]*\n)+/, "") : source;
    const added = `${before}${isFramed ? "" : (frame?.open ?? "")}${start}`;
    const closing = frame === undefined || frame.close === "" ? 0 : frame.close.length + 1;
    if (this.#part.length + added.trimEnd().length + closing > this.#limit) return false;
    this.#leads = leads === true ? this.#part.length : undefined;
    this.#part += added;
    this.#frame = frame;
    return true;
  }

  /** Completes the current part. If the part ends with a heading, moves the heading to the next part. */
  #next(): void {
    const { open, close } = this.#frame ?? { open: "", close: "" };
    const cut = this.#leads || this.#part.length;
    const text = this.#part.slice(0, cut).trimEnd();
    if (text !== open.trimEnd()) this.#parts.push(close === "" ? text : `${text}\n${close}`);
    this.#part = this.#part.slice(cut);
    this.#frame = undefined;
    this.#leads = undefined;
  }

  #cutAnywhere({ source, frame }: Piece): void {
    const { open, close } = frame ?? { open: "", close: "" };
    const room = this.#limit - open.length - (close === "" ? 0 : close.length + 1);
    for (let at = 0; at < source.length;) {
      const most = Math.max(safe(source, at + room), at + 1);
      const space = most < source.length ? source.lastIndexOf(" ", most - 1) : -1;
      const end = space > at ? space + 1 : most;
      if (this.#tryAdd({ source: source.slice(at, end), ...(frame && { frame }) })) at = end;
      else this.#next();
    }
  }
}

/**
 * Returns the separator after a frame's last block: for code, the closing fence and an empty line; for a table, a
 * line feed.
 */
function separatorAfter({ close }: Frame): string {
  return close === "" ? "\n" : `${close}\n\n`;
}

/** Returns the last position up to `position` that splits no surrogate pair. */
function safe(text: string, position: number): number {
  if (position >= text.length) return text.length;
  const code = text.charCodeAt(position - 1);
  return code >= 0xd800 && code <= 0xdbff && position > 1 ? position - 1 : position;
}

function pieceOf(block: Block): Piece {
  const { source } = block;
  switch (block.kind) {
    case "heading":
      return { source, leads: true, cut: () => lines(source) };
    case "paragraph":
      return { source, fills: true, cut: () => sentences(block.inside, source) };
    case "list":
      return { source, fills: true, cut: () => block.items.map(itemPiece) };
    case "code":
      return { source, cut: (limit) => codeLines(source, limit) };
    case "table":
      return { source, cut: (limit) => rows(source, limit) };
    case "quote":
    case "break":
      return { source, fills: true, cut: () => lines(source) };
  }
}

function itemPiece({ source, blocks }: Item): Piece {
  if (!blocks.some(({ kind }) => kind === "code" || kind === "table"))
    return { source, fills: true, cut: () => lines(source) };
  // Cut between the item's blocks, which then lose the item's indentation.
  const sign = /^\s*\S+\s+/.exec(source.slice(0, 64))?.[0] ?? "";
  const [first, ...others] = blocks.map(pieceOf);
  const named = `${sign}${first?.source ?? ""}`;
  return { source, cut: () => [{ source: named, fills: true, cut: () => lines(named) }, ...others] };
}

/** Segment of a paragraph. `whole` is true for inline markup, which is cut only as a last resort. */
interface Segment {
  text: string;
  whole: boolean;
}

/** Places to cut, best first: between lines, sentences, words. */
const PLACES = [/\n/g, /[.!?…]\s+|[。！？]/g, /[ \t]+/g];

function sentences(inside: readonly Inline[], source: string): Piece[] {
  const segments = inside.map((piece) => ({ text: piece.source, whole: piece.kind !== "text" }));
  const read = segments.map(({ text }) => text).join("");
  if (!source.startsWith(read)) return lines(source);
  return cutAt(0, [...segments, { text: source.slice(read.length), whole: false }]);
}

function lines(source: string): Piece[] {
  return cutAt(0, [{ text: source, whole: false }]);
}

/** Cuts segments at one level of {@link PLACES}. Pieces that are still too long are later cut at the next level. */
function cutAt(level: number, segments: readonly Segment[]): Piece[] {
  const place = PLACES[level];
  if (place === undefined) {
    if (!segments.some(({ whole }) => whole))
      return segments.map(({ text }) => ({ source: text, fills: true }));
    return segments.flatMap(({ text }) => lines(text));
  }
  const runs: Segment[][] = [[]];
  for (const { text, whole } of segments) {
    if (whole) {
      runs.at(-1)?.push({ text, whole });
      continue;
    }
    let start = 0;
    for (const { index, 0: found } of text.matchAll(place)) {
      const end = index + found.length;
      runs.at(-1)?.push({ text: text.slice(start, end), whole });
      runs.push([]);
      start = end;
    }
    runs.at(-1)?.push({ text: text.slice(start), whole });
  }
  return runs.map((run) => ({
    source: run.map(({ text }) => text).join(""),
    fills: true,
    cut: () => cutAt(level + 1, run),
  }));
}

function codeLines(source: string, limit: number): Piece[] {
  const [, marker] = /^ {0,3}(`{3,}|~{3,})/.exec(source) ?? [];
  const feed = source.indexOf("\n");
  // Use plain lines if the fences are missing, or too long to repeat.
  if (marker === undefined || feed === -1 || marker.length * 2 > limit / 4) return lines(source);
  const opening = source.slice(0, feed);
  const frame = { open: `${opening.length * 2 > limit ? marker : opening}\n`, close: marker };
  const body = source.slice(feed + 1).trimEnd();
  const last = body.slice(body.lastIndexOf("\n") + 1).trim();
  const isClosed = last.length >= marker.length && last === (marker[0] ?? "").repeat(last.length);
  return linesOf(isClosed ? body.slice(0, -last.length) : body).map((line) => ({ source: line, frame }));
}

function rows(source: string, limit: number): Piece[] {
  const [names = "", rule = "", ...others] = linesOf(source.trimEnd());
  const frame = { open: names + rule, close: "" };
  if (frame.open.length > limit / 2) return lines(source);
  return others.map((row) => ({ source: row, frame }));
}

function linesOf(text: string): string[] {
  return text.split("\n").map((line) => `${line}\n`);
}
