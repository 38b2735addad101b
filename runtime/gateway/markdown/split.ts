import { type Block, type Inline, type Item, parseMarkdown } from "./parse.ts";

/** A part with less than this share of the limit gets a piece of what comes next, if that may be cut. */
const SMALLEST_SHARE = 0.3;
/** Characters that fit on every platform, whatever becomes of each when it is written. */
const ALWAYS_FITS = 300;

/** Lines before and behind others that make them a whole: a code block's fences, a table's head. */
interface Frame {
  /** With its last line feed. */
  open: string;
  /** Without a line feed; empty for a table. */
  close: string;
}

/** A piece of Markdown, which is cut only if it has to be. */
interface Piece {
  source: string;
  /** Fills a part up where that would be small otherwise. */
  fills?: boolean;
  /** A heading: a part does not end with it. */
  leads?: boolean;
  frame?: Frame;
  /** Gives the pieces that it is cut into; not there where only places between characters are left. */
  cut?: (limit: number) => Piece[];
}

/**
 * Splits Markdown into parts of at most `limit` characters (UTF-16 units): between blocks, else
 * between items, lines, sentences or words, else anywhere but inside a character.
 *
 * A code block or table is never cut while it fits into a part of its own. One that does not is cut between lines, and
 * each part gets the fences with the language, or the table's head. No form inside a line is cut while it fits.
 *
 * `share` returns how much of a message's room a part takes once it is written for the platform: above 1 it does not fit.
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

/** Puts pieces into as few parts as their order allows. */
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
  /** Start of the heading that the part ends with. */
  #leads: number | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(piece: Piece): void {
    if (this.#takes(piece)) return;
    const isSmall = this.#part.trim().length < this.#limit * SMALLEST_SHARE;
    const isFilling = isSmall && piece.fills === true && piece.cut !== undefined;
    if (!isFilling) {
      this.#next();
      if (this.#takes(piece)) return;
    }
    if (piece.cut === undefined) this.#cutAnywhere(piece);
    else for (const smaller of piece.cut(this.#limit)) this.add(smaller);
  }

  end(): string[] {
    this.#leads = undefined;
    this.#next();
    return this.#parts;
  }

  #takes({ source, frame, leads }: Piece): boolean {
    const isFramed = frame === this.#frame;
    const before = this.#frame === undefined || isFramed ? "" : behind(this.#frame);
    const start = this.#part === "" ? source.replace(/^(?:[ \t]*\n)+/, "") : source;
    const added = `${before}${isFramed ? "" : (frame?.open ?? "")}${start}`;
    const closing = frame === undefined || frame.close === "" ? 0 : frame.close.length + 1;
    if (this.#part.length + added.trimEnd().length + closing > this.#limit) return false;
    this.#leads = leads === true ? this.#part.length : undefined;
    this.#part += added;
    this.#frame = frame;
    return true;
  }

  /** Ends the part; a heading at its end begins the next one. */
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
      const end = Math.max(safe(source, at + room), at + 1);
      if (this.#takes({ source: source.slice(at, end), ...(frame && { frame }) })) at = end;
      else this.#next();
    }
  }
}

/** Signs between a framed piece and one that is not of its frame: its end, and a blank line. */
function behind({ close }: Frame): string {
  return close === "" ? "\n" : `${close}\n\n`;
}

/** A position at or before `position` that does not cut a surrogate pair. */
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
  // Cut between its blocks, which then stand without the item's indentation.
  const sign = /^\s*\S+\s+/.exec(source.slice(0, 64))?.[0] ?? "";
  const [first, ...others] = blocks.map(pieceOf);
  const named = `${sign}${first?.source ?? ""}`;
  return { source, cut: () => [{ source: named, fills: true, cut: () => lines(named) }, ...others] };
}

/** A piece of a line; one that is `whole` is a form, which is cut last. */
interface Segment {
  text: string;
  whole: boolean;
}

/** Places between two lines, sentences, words. */
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

/** Cuts at the places of one kind; each piece is cut at those of the next kind, if it has to be. */
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

/** The lines of a fenced code block, each within its fences. */
function codeLines(source: string, limit: number): Piece[] {
  const [, marker] = /^ {0,3}(`{3,}|~{3,})/.exec(source) ?? [];
  const feed = source.indexOf("\n");
  // Where the marker is so long that little else would fit, or there is none, the lines stand as they are.
  if (marker === undefined || feed === -1 || marker.length * 2 > limit / 4) return lines(source);
  const opening = source.slice(0, feed);
  const frame = { open: `${opening.length * 2 > limit ? marker : opening}\n`, close: marker };
  const body = source.slice(feed + 1).trimEnd();
  const last = body.slice(body.lastIndexOf("\n") + 1).trim();
  const isClosed = last.length >= marker.length && last === (marker[0] ?? "").repeat(last.length);
  return linesOf(isClosed ? body.slice(0, -last.length) : body).map((line) => ({ source: line, frame }));
}

/** The rows of a table, each below its head. */
function rows(source: string, limit: number): Piece[] {
  const [names = "", rule = "", ...others] = linesOf(source.trimEnd());
  const frame = { open: names + rule, close: "" };
  if (frame.open.length > limit / 2) return lines(source);
  return others.map((row) => ({ source: row, frame }));
}

/** Lines with their line feeds, the last one too. */
function linesOf(text: string): string[] {
  return text.split("\n").map((line) => `${line}\n`);
}
