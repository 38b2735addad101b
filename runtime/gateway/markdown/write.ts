import { type Block, hasGapBehind, type Inline, type Item, parseMarkdown } from "./parse.ts";

/** Maximum width of an aligned table in characters. Wider tables become lists of their rows. */
const WIDEST_TABLE = 60;
/** URLs that browsers, mail programs or chat apps can open. */
const ADDRESS = /^(?:https?:\/\/|mailto:|tg:\/\/)[^\s<>]+$/i;

/** Functions that write a platform's markup. Their arguments `inside` and `label` are already rendered. */
export interface Forms {
  text(text: string): string;
  code(code: string): string;
  strong(inside: string): string;
  emphasis(inside: string): string;
  struck(inside: string): string;
  /** Renders a link. `shown` is the label without markup; empty for a bare URL. */
  link(link: { target: string; label: string; shown: string }): string;
  quote(inside: string): string;
  codeBlock(code: string, language?: string): string;
  bullet: string;
  /** Characters to insert between styled text and an adjacent word, for platforms that allow no styles inside words. */
  boundary?: string;
}

/** Renders Markdown with a platform's markup. Emulates missing elements such as headings and tables. */
export function writeMarkdown(markdown: string, forms: Forms): string {
  return new Writer(forms).blocks(parseMarkdown(markdown), "");
}

function visibleText(pieces: readonly Inline[]): string {
  return pieces.map(visible).join("");
}

function visible(piece: Inline): string {
  if (piece.kind === "text") return piece.text;
  if (piece.kind === "code") return piece.code;
  return piece.kind === "link" ? visibleText(piece.label) || piece.target : visibleText(piece.inside);
}

class Writer {
  readonly #forms: Forms;
  /** True inside bold text. Nested bold is dropped, since some platforms would show its markup. */
  #isBold = false;
  /** True inside a quote. Some platforms refuse nested quotes, so they are flattened. */
  #isQuoted = false;

  constructor(forms: Forms) {
    this.#forms = forms;
  }

  blocks(blocks: readonly Block[], indent: string): string {
    let written = "";
    for (const [at, block] of blocks.entries()) {
      // The first block needs no indent, since it follows the item's bullet on the same line.
      written += at === 0 || /^(?:code|quote|table|list)$/.test(block.kind) ? "" : indent;
      written += this.#block(block, indent, at === 0);
      if (at < blocks.length - 1) written += hasGapBehind(block) ? "\n\n" : "\n";
    }
    return written;
  }

  #block(block: Block, indent: string, isFirst: boolean): string {
    switch (block.kind) {
      case "paragraph":
        return this.#inline(block.inside);
      case "heading":
        return this.#strong(block.inside);
      case "break":
        return "———";
      case "quote":
        return this.#quote(block.blocks);
      case "code":
        return this.#forms.codeBlock(block.code, block.language);
      case "table":
        return writeTable(block, this.#forms);
      case "list":
        return block.items
          .map(
            (item, at) =>
              (isFirst && at === 0 ? "" : indent) + this.#item(item, this.#signOf(block, at), indent),
          )
          .join("\n");
    }
  }

  #signOf({ start, delimiter }: Extract<Block, { kind: "list" }>, at: number): string {
    return start === undefined ? this.#forms.bullet : `${start + at}${delimiter}`;
  }

  #item({ done, blocks }: Item, sign: string, indent: string): string {
    const box = done === undefined ? "" : done ? "☑ " : "☐ ";
    // A checkbox replaces the bullet, unless the platform renders list syntax itself.
    const first = box !== "" && sign === "•" ? box : `${sign} ${box}`;
    return (first + this.blocks(blocks, `${indent}${" ".repeat(sign.length + 1)}`)).trimEnd();
  }

  #quote(blocks: readonly Block[]): string {
    if (this.#isQuoted) return this.blocks(blocks, "");
    this.#isQuoted = true;
    const written = this.#forms.quote(this.blocks(blocks, ""));
    this.#isQuoted = false;
    return written;
  }

  #inline(pieces: readonly Inline[]): string {
    const { boundary } = this.#forms;
    if (boundary === undefined) return pieces.map((piece) => this.#piece(piece)).join("");
    let written = "";
    for (const [at, piece] of pieces.entries()) {
      const isStyle = piece.kind === "strong" || piece.kind === "emphasis" || piece.kind === "struck";
      const isAfterWord = isStyle && endsInWord(pieces[at - 1]);
      const isBeforeWord = isStyle && beginsWithWord(pieces[at + 1]);
      written += (isAfterWord ? boundary : "") + this.#piece(piece) + (isBeforeWord ? boundary : "");
    }
    return written;
  }

  #strong(inside: readonly Inline[]): string {
    if (this.#isBold) return this.#inline(inside);
    this.#isBold = true;
    const written = this.#forms.strong(this.#inline(inside));
    this.#isBold = false;
    return written;
  }

  #piece(piece: Inline): string {
    const forms = this.#forms;
    switch (piece.kind) {
      case "text":
        return forms.text(piece.text);
      case "code":
        return forms.code(piece.code);
      case "strong":
        return this.#strong(piece.inside);
      case "emphasis":
        return forms.emphasis(this.#inline(piece.inside));
      case "struck":
        return forms.struck(this.#inline(piece.inside));
      case "link": {
        const { target } = piece;
        const label = this.#inline(piece.label);
        const shown = visibleText(piece.label).trim();
        // If a label looks like a URL, link it only if it equals the target.
        const misleads = /^https?:/i.test(shown) && shown !== target;
        if (misleads || !ADDRESS.test(target)) return `${label} (${forms.text(target)})`;
        return forms.link({ target, label, shown });
      }
    }
  }
}

function endsInWord(piece?: Inline): boolean {
  return piece?.kind === "text" && /[\p{L}\p{N}_]$/u.test(piece.text.slice(-2));
}

function beginsWithWord(piece?: Inline): boolean {
  return piece?.kind === "text" && /^[\p{L}\p{N}_]/u.test(piece.text);
}

function writeTable({ head, rows }: Extract<Block, { kind: "table" }>, forms: Forms): string {
  const [names = [], ...others] = [head, ...rows].map((row) => row.map(visibleText));
  const columns = others.reduce((most, row) => Math.max(most, row.length), names.length);
  const widths = Array.from({ length: columns }, (_, column) =>
    others.reduce((widest, row) => Math.max(widest, lengthOf(row[column])), lengthOf(names[column])),
  );
  if (widths.reduce((sum, width) => sum + width + 3, -3) > WIDEST_TABLE) {
    const cell = (text: string, column: number) =>
      names[column] === undefined ? text : `${names[column]}: ${text}`;
    return others.map((row) => `${forms.bullet} ${forms.text(row.map(cell).join(" · "))}`).join("\n");
  }
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - lengthOf(cell)))
      .join(" | ")
      .trimEnd();
  const rule = widths.map((width) => "-".repeat(width)).join("-|-");
  return forms.codeBlock([line(names), rule, ...others.map(line)].join("\n"));
}

function lengthOf(text = ""): number {
  return [...text].length;
}
