import { Lexer, type Token, Tokenizer, type Tokens, type TokensList } from "marked";
import type * as Any from "../../contract/markdown.ts";

/**
 * Parses an answer's Markdown with `marked`, once for all platforms: CommonMark with GitHub's extensions
 * (https://github.github.com/gfm/). HTML is treated as plain text, and link reference definitions are not supported.
 * Emphasis cannot begin or end inside a word.
 *
 * Lists and texts with much markup are parsed in pieces, to bound the time and stack that `marked` needs.
 */

/** Markdown source of a node. The concatenated sources of all blocks are the whole text. */
interface Own {
  source: string;
}

export type Block = Any.Block<Own>;
export type Inline = Any.Inline<Own>;
export type Item = Any.Item<Own>;

/** Maximum nesting depth. Deeper markup is plain text. */
const DEEPEST = 8;
/** Maximum length, in characters, of a list that is parsed in one piece. */
const LIST_WINDOW = 1_500;
/** Maximum length, in characters, of a separately parsed piece of text. */
const LONGEST_PIECE = 8_000;
/** Maximum cost of parsing a piece: its length in characters, multiplied by its number of markup characters. */
const MAX_WORK = 100_000;
const SIGNS = "\\`*_~![]<>/:@";
const LONGEST_MAIL_NAME = 64;
const MAIL_NAME = /[\w.+-]/;
const WORD = /[\p{L}\p{N}_]/u;
/** Matches the start of any inline markup. Text without a match needs no parser. */
const BEGINNING = /[\\`*_~![<]|https?:/i;

class BoundedTokenizer extends Tokenizer {
  override html(): undefined {}
  override tag(): undefined {}
  override def(): undefined {}
  override reflink(): undefined {}

  override list(src: string): Tokens.List | undefined {
    if (src.length <= LIST_WINDOW) return super.list(src);
    const end = src.lastIndexOf("\n", LIST_WINDOW) + 1;
    return super.list(src.slice(0, end === 0 ? LIST_WINDOW : end));
  }

  override blockquote(src: string): Tokens.Blockquote | undefined {
    let end = 0;
    while (end < src.length && /^ {0,3}>/.test(src.slice(end, end + 4))) {
      const feed = src.indexOf("\n", end);
      end = feed === -1 ? src.length : feed + 1;
    }
    return end === 0 ? undefined : super.blockquote(src.slice(0, end));
  }

  /** Replaces the method of `marked`, whose search for email addresses takes quadratic time. */
  override inlineText(src: string): Tokens.Text {
    const raw = src.slice(0, textEnd(src));
    return { type: "text", raw, text: raw, escaped: false };
  }

  override emStrong(src: string, masked: string, before = ""): Tokens.Em | Tokens.Strong | undefined {
    const found = super.emStrong(src, masked, before);
    const isInside = WORD.test(before) || WORD.test(src[found?.raw.length ?? 0] ?? "");
    return found?.type === "em" && isInside ? undefined : found;
  }
}

/** Returns the end of the leading plain text, before the next markup, URL, email address or line break. */
function textEnd(src: string): number {
  const first = /^[`~]+/.exec(src)?.[0].length ?? 1;
  const sign = /[\\<![`*~_]|https?:\/\/|ftp:\/\/|www\./gi;
  sign.lastIndex = first;
  const found = sign.exec(src)?.index ?? src.length;
  const broken = src.indexOf("  \n", first);
  const end = broken === -1 ? found : Math.min(found, broken);
  const at = src.indexOf("@", first);
  if (at === -1 || at >= end) return end;
  let start = at;
  while (start > first && at - start < LONGEST_MAIL_NAME && MAIL_NAME.test(src[start - 1] ?? "")) start -= 1;
  return start === at ? end : start;
}

class BoundedLexer extends Lexer {
  #blocks = 0;
  #inlines = 0;

  constructor() {
    super({ gfm: true, tokenizer: new BoundedTokenizer() });
  }

  override blockTokens(src: string, tokens?: Token[], isCut?: boolean): Token[];
  override blockTokens(src: string, tokens?: TokensList, isCut?: boolean): TokensList;
  override blockTokens(src: string, tokens: Token[] = [], isCut?: boolean): Token[] {
    if (this.#blocks >= DEEPEST) return withText(tokens, src);
    this.#blocks += 1;
    const read = super.blockTokens(src, tokens, isCut);
    this.#blocks -= 1;
    return read;
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (this.#inlines >= DEEPEST || !BEGINNING.test(src)) return withText(tokens, src);
    this.#inlines += 1;
    for (let at = 0; at < src.length;) {
      const end = pieceEnd(src, at);
      super.inlineTokens(src.slice(at, end), tokens);
      at = end;
    }
    this.#inlines -= 1;
    return tokens;
  }
}

function withText(tokens: Token[], text: string): Token[] {
  if (text !== "") tokens.push({ type: "text", raw: text, text });
  return tokens;
}

/** Returns the end of the piece of text that begins at `from`, preferably after a space or line feed. */
function pieceEnd(text: string, from: number): number {
  const last = Math.min(text.length, from + LONGEST_PIECE);
  let signs = 0;
  let blank = 0;
  for (let at = from; at < last; at += 1) {
    const sign = text[at] ?? "";
    if (SIGNS.includes(sign)) signs += 1;
    if (sign === " " || sign === "\n") blank = at + 1;
    if (signs * (at - from) > MAX_WORK) return blank > from ? blank : at + 1;
  }
  return last === text.length || blank === 0 ? last : blank;
}

/** Parses Markdown, which may end anywhere, even inside markup. */
export function parseMarkdown(text: string): Block[] {
  return readBlocks(new BoundedLexer().lex(text));
}

/** Returns true if a blank line follows the block. */
export function hasGapBehind({ source }: Own): boolean {
  const end = source.slice(-200);
  return end.slice(end.trimEnd().length).split("\n").length > 2;
}

function readBlocks(tokens: readonly Token[]): Block[] {
  const blocks: Block[] = [];
  for (const token of tokens) {
    // Skip the checkbox: the list item's `done` already represents it.
    if (token.type === "checkbox") continue;
    const last = blocks.at(-1);
    const block = readBlock(token as Tokens.Generic);
    if (block === undefined) {
      if (last === undefined) blocks.push({ kind: "paragraph", inside: [], source: token.raw });
      else last.source += token.raw;
    } else if (last?.kind === "list" && block.kind === "list" && continues(last, block)) {
      // Rejoin a list that was parsed in pieces.
      for (const item of block.items) last.items.push(item);
      last.source += block.source;
    } else blocks.push(block);
  }
  return blocks;
}

type List = Extract<Block, { kind: "list" }>;

function continues(last: List, { start }: List): boolean {
  if (hasGapBehind(last)) return false;
  return start === undefined
    ? last.start === undefined
    : start === (last.start ?? Number.NaN) + last.items.length;
}

/** Returns `undefined` for blank lines. */
function readBlock(token: Tokens.Generic): Block | undefined {
  const source = token.raw;
  switch (token.type) {
    case "space":
      return undefined;
    case "hr":
      return { kind: "break", source };
    case "code": {
      const language = /^[\w+#.-]+/.exec(token["lang"] ?? "")?.[0];
      return { kind: "code", ...(language && { language }), code: token["text"], source };
    }
    case "heading": {
      const inside = readInline(token.tokens ?? []);
      return inside.length > 0 ? { kind: "heading", inside, source } : paragraph(source);
    }
    case "blockquote":
      return { kind: "quote", blocks: readBlocks(token.tokens ?? []), source };
    case "list":
      return readList(token as Tokens.List);
    case "table": {
      const { header, rows } = token as Tokens.Table;
      const cells = (row: Tokens.TableCell[]) => row.map(({ tokens }) => readInline(tokens));
      const lines = source.split("\n").slice(2);
      const whole = rows.map((row, at) => cells(row).concat(excess(lines[at] ?? "", header.length)));
      return { kind: "table", head: cells(header), rows: whole, source };
    }
    default:
      return token.tokens === undefined
        ? paragraph(source)
        : { kind: "paragraph", inside: readInline(token.tokens), source };
  }
}

/**
 * Returns a row's cells beyond the table's columns, unformatted. `marked` drops these cells, so their text would be
 * lost.
 */
function excess(row: string, columns: number): Inline[][] {
  const cells = row.trim().split(/(?<!\\)\|/);
  if (cells[0] === "") cells.shift();
  if (cells.at(-1)?.trim() === "") cells.pop();
  return cells
    .slice(columns)
    .map((cell) => [{ kind: "text", text: cell.trim().replaceAll("\\|", "|"), source: cell }]);
}

function paragraph(source: string): Block {
  return { kind: "paragraph", inside: [{ kind: "text", text: source.trimEnd(), source }], source };
}

function readList({ raw, ordered, start, items }: Tokens.List): Block {
  const [, delimiter = "."] = /^\s*\d+([.)])/.exec(raw.slice(0, 32)) ?? [];
  return {
    kind: "list",
    ...(ordered && { start: Number(start) }),
    delimiter,
    source: raw,
    items: items.map((item) => ({
      ...(item.task && { done: item.checked === true }),
      blocks: readBlocks(item.tokens),
      source: item.raw,
    })),
  };
}

function readInline(tokens: readonly Token[]): Inline[] {
  return tokens.filter(({ type }) => type !== "checkbox").map((token) => readPiece(token as Tokens.Generic));
}

const KINDS = { strong: "strong", em: "emphasis", del: "struck" } as const;

function readPiece(token: Tokens.Generic): Inline {
  const source = token.raw;
  switch (token.type) {
    case "strong":
    case "em":
    case "del": {
      const inside = readInline(token.tokens ?? []);
      const [only] = inside;
      // `***x***` is parsed as bold inside emphasis. Swap the two, so that bold is outside.
      const isBoth = token.type === "em" && only?.kind === "strong" && inside.length === 1;
      if (isBoth) return { ...only, inside: [{ kind: "emphasis", inside: only.inside, source }], source };
      return { kind: KINDS[token.type], inside, source };
    }
    case "codespan":
      return { kind: "code", code: token["text"], source };
    case "link":
    case "image": {
      const text: Inline = { kind: "text", text: token["text"], source };
      // Use the URL as typed, because `marked` percent-encodes it.
      const typed = source.replace(/^<|>$/g, "");
      if (/^https?:\S+$/i.test(typed)) return { kind: "link", label: [], target: typed, source };
      const hasForms = token.type === "link" && source.startsWith("[");
      const label = hasForms ? readInline(token.tokens ?? []) : [text];
      return { kind: "link", label, target: token["href"], source };
    }
    case "br":
      return { kind: "text", text: "\n", source };
    default:
      return { kind: "text", text: token["text"] ?? source, source };
  }
}
