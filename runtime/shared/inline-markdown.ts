/**
 * Reads the markup inside a line or paragraph of Markdown, once for every place that shows an answer. The forms are
 * CommonMark's (https://spec.commonmark.org/0.31.2/#inlines) and `~~struck~~`, with two differences: emphasis does not
 * begin or end inside a word, so that 2*3*4 stays a product, and what is no complete form stays as it was written.
 *
 * Takes time linear in the text: each position is passed once, and the end of a form is searched for from where the
 * search before it ended.
 */

/** A piece of a text. */
export type Inline =
  | { kind: "text"; text: string }
  | { kind: "code"; code: string }
  | { kind: "strong" | "emphasis" | "struck"; inside: Inline[] }
  | { kind: "link"; label: Inline[]; target: string; source: string }
  /** An address that stands in the text, in angle brackets (`marked`) or without. */
  | { kind: "address"; address: string; marked: boolean; source: string };

/** Forms inside forms are read this deep; below, they are text. Bounds the stack and the time. */
const DEEPEST = 6;
const LONGEST_ADDRESS = 2_048;
const LONGEST_TITLE = 500;

/** Every form begins with one of these: most lines have none, and need no parser. */
const BEGINNING = /[\\`*_~![<]|https?:/;
const WORD = /[\p{L}\p{N}_]/u;
const SPACE = /\s/;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const NONE = Number.POSITIVE_INFINITY;

/** Returns the pieces of a text, in their order. */
export function parseInline(text: string): Inline[] {
  return BEGINNING.test(text) ? new InlineParser(text, 0).parse() : [{ kind: "text", text }];
}

/** Returns what a reader sees of pieces, without any markup. */
export function visibleText(pieces: readonly Inline[]): string {
  return pieces.map(visible).join("");
}

function visible(piece: Inline): string {
  switch (piece.kind) {
    case "text":
      return piece.text;
    case "code":
      return piece.code;
    case "link":
      return visibleText(piece.label);
    case "address":
      return piece.address;
    default:
      return visibleText(piece.inside);
  }
}

/** A form that is opened and closed by the same marker. */
interface Delimiter {
  marker: string;
  /** It neither begins nor ends inside a word. */
  outsideWords: boolean;
  wrap(inside: Inline[]): Inline;
}

const strong = (inside: Inline[]): Inline => ({ kind: "strong", inside });
const emphasis = (inside: Inline[]): Inline => ({ kind: "emphasis", inside });
const DELIMITERS: Readonly<Record<string, Delimiter>> = {
  "*": { marker: "*", outsideWords: true, wrap: emphasis },
  "**": { marker: "**", outsideWords: false, wrap: strong },
  "***": { marker: "***", outsideWords: false, wrap: (inside) => strong([emphasis(inside)]) },
  _: { marker: "_", outsideWords: true, wrap: emphasis },
  __: { marker: "__", outsideWords: true, wrap: strong },
  "~~": { marker: "~~", outsideWords: false, wrap: (inside) => ({ kind: "struck", inside }) },
};

class InlineParser {
  readonly #text: string;
  readonly #depth: number;
  readonly #pieces: Inline[] = [];
  /** By its marker, the next place that ends a form: the last one that was searched for. */
  readonly #ends = new Map<string, number>();
  /** Runs of backticks by their length, those before the current place taken out. */
  #ticks: Map<number, number[]> | undefined;
  #position = 0;
  /** Beginning of the text that is in no piece yet. */
  #from = 0;

  constructor(text: string, depth: number) {
    this.#text = text;
    this.#depth = depth;
  }

  parse(): Inline[] {
    const text = this.#text;
    if (this.#depth > DEEPEST) return [{ kind: "text", text }];
    while (this.#position < text.length) {
      switch (text[this.#position]) {
        case "\\":
          this.#escape();
          break;
        case "`":
          this.#code();
          break;
        case "*":
        case "_":
        case "~":
          this.#delimited();
          break;
        case "!":
        case "[":
          this.#link();
          break;
        case "<":
        case "h":
          this.#address();
          break;
        default:
          this.#position += 1;
      }
    }
    this.#add(undefined, text.length, text.length);
    return this.#pieces;
  }

  /** Adds the text before `start`, then a piece that ends at `end`. */
  #add(piece: Inline | undefined, start: number, end: number): void {
    if (start > this.#from) this.#pieces.push({ kind: "text", text: this.#text.slice(this.#from, start) });
    if (piece !== undefined) this.#pieces.push(piece);
    this.#from = end;
    this.#position = end;
  }

  #inside(from: number, to: number): Inline[] {
    return new InlineParser(this.#text.slice(from, to), this.#depth + 1).parse();
  }

  #escape(): void {
    const start = this.#position;
    const next = this.#text[start + 1] ?? "";
    if (!PUNCTUATION.test(next)) this.#position += 1;
    else this.#add({ kind: "text", text: next }, start, start + 2);
  }

  /** The length of the run of one character that begins here. */
  #runFrom(start: number): number {
    let end = start + 1;
    while (this.#text[end] === this.#text[start]) end += 1;
    return end - start;
  }

  #code(): void {
    const start = this.#position;
    const length = this.#runFrom(start);
    const end = this.#closingTicks(length, start);
    if (end === undefined) {
      this.#position += length;
      return;
    }
    const code = this.#text.slice(start + length, end);
    const isPadded = code.length > 2 && code.startsWith(" ") && code.endsWith(" ");
    this.#add({ kind: "code", code: isPadded ? code.slice(1, -1) : code }, start, end + length);
  }

  /** The next run of so many backticks behind a place. */
  #closingTicks(length: number, after: number): number | undefined {
    this.#ticks ??= runsOfTicks(this.#text);
    // The last is the next one.
    const runs = this.#ticks.get(length) ?? [];
    while ((runs.at(-1) ?? NONE) <= after) runs.pop();
    return runs.at(-1);
  }

  #delimited(): void {
    const start = this.#position;
    const length = this.#runFrom(start);
    const open = DELIMITERS[this.#text.slice(start, start + Math.min(length, 4))];
    const from = start + length;
    const end = open !== undefined && this.#opens(open, start, from) ? this.#end(open, from + 1) : NONE;
    if (open === undefined || end === NONE) this.#position = from;
    else this.#add(open.wrap(this.#inside(from, end)), start, end + length);
  }

  #opens({ outsideWords }: Delimiter, start: number, from: number): boolean {
    if (isSpaceOrNothing(this.#text[from])) return false;
    return !outsideWords || !isWord(this.#text[start - 1]);
  }

  /** The next place that ends a form, from a place on that no call before was behind. */
  #end(open: Delimiter, from: number): number {
    const { marker } = open;
    const known = this.#ends.get(marker) ?? 0;
    if (known >= from) return known;
    let at = this.#text.indexOf(marker, from);
    while (at !== -1 && !this.#closes(open, at)) {
      // A run that is too long is passed at once; of a run of three, the last two end what two began.
      at = this.#text.indexOf(marker, at + 1);
    }
    const end = at === -1 ? NONE : at;
    this.#ends.set(marker, end);
    return end;
  }

  #closes({ marker, outsideWords }: Delimiter, at: number): boolean {
    const before = this.#text[at - 1];
    const after = this.#text[at + marker.length];
    const sign = marker[0];
    if (isSpaceOrNothing(before) || after === sign) return false;
    if (before === sign && marker !== "**") return false;
    return !outsideWords || !isWord(after);
  }

  #link(): void {
    const start = this.#position;
    const open = this.#text[start] === "!" ? start + 1 : start;
    if (this.#text[open] !== "[") {
      this.#position += 1;
      return;
    }
    let close = open + 1;
    while (close < this.#text.length && !"[]\n".includes(this.#text[close] ?? "")) close += 1;
    const isClosed = this.#text[close] === "]" && this.#text[close + 1] === "(";
    const found = isClosed ? readTarget(this.#text, close + 2) : undefined;
    if (found === undefined) {
      this.#position = open + 1;
      return;
    }
    const label = this.#inside(open + 1, close);
    const source = this.#text.slice(start, found.end);
    this.#add({ kind: "link", label, target: found.target, source }, start, found.end);
  }

  #address(): void {
    const start = this.#position;
    const marked = this.#text[start] === "<";
    const from = marked ? start + 1 : start;
    const isAddress =
      this.#text.startsWith("http://", from) ||
      this.#text.startsWith("https://", from) ||
      (marked && this.#text.startsWith("mailto:", from));
    if (!isAddress) {
      this.#position += 1;
      return;
    }
    let end = from;
    while (end < this.#text.length && !isAddressEnd(this.#text[end] ?? "", marked)) end += 1;
    if (marked && this.#text[end] !== ">") {
      this.#position = end;
      return;
    }
    const address = this.#text.slice(from, end);
    const behind = marked ? end + 1 : end;
    const source = this.#text.slice(start, behind);
    this.#add({ kind: "address", address, marked, source }, start, behind);
  }
}

/** The places of the runs of backticks by their length, the first ones last. */
function runsOfTicks(text: string): Map<number, number[]> {
  const runs = new Map<number, number[]>();
  let at = text.lastIndexOf("`");
  while (at !== -1) {
    let start = at;
    while (text[start - 1] === "`") start -= 1;
    const length = at - start + 1;
    const known = runs.get(length);
    if (known === undefined) runs.set(length, [start]);
    else known.push(start);
    at = start === 0 ? -1 : text.lastIndexOf("`", start - 1);
  }
  return runs;
}

/** Reads a link's target from behind its opening bracket: an address, perhaps in angle brackets, perhaps with a title. */
function readTarget(text: string, from: number): { target: string; end: number } | undefined {
  let at = skipSpaces(text, from);
  const inAngles = text[at] === "<";
  if (inAngles) at += 1;
  const start = at;
  let open = 0;
  for (; at - start <= LONGEST_ADDRESS; at += 1) {
    const sign = text[at];
    if (isSpaceOrNothing(sign) || sign === "<" || sign === ">") break;
    if (sign === "(") open += 1;
    if (sign === ")") open -= 1;
    if (open > 1) return undefined;
    if (open < 0) break;
  }
  if (open > 0 || at === start || at - start > LONGEST_ADDRESS) return undefined;
  const target = text.slice(start, at);
  if (inAngles && text[at] === ">") at += 1;
  const spaced = skipSpaces(text, at);
  const quote = text[spaced];
  if (spaced > at && (quote === '"' || quote === "'")) {
    const title = text.slice(spaced + 1, spaced + 1 + LONGEST_TITLE);
    const close = title.indexOf(quote);
    if (close === -1 || title.slice(0, close).includes("\n")) return undefined;
    at = spaced + close + 2;
  }
  const end = skipSpaces(text, at);
  return text[end] === ")" ? { target, end: end + 1 } : undefined;
}

/** Spaces beside a target; a longer gap is none of a link's. */
function skipSpaces(text: string, from: number): number {
  let at = from;
  while (at - from < 16 && at < text.length && SPACE.test(text[at] ?? "")) at += 1;
  return at;
}

function isAddressEnd(sign: string, marked: boolean): boolean {
  return (
    SPACE.test(sign) || sign === "<" || sign === ">" || (marked ? sign === "|" : sign === "*" || sign === ")")
  );
}

function isSpaceOrNothing(sign: string | undefined): boolean {
  return sign === undefined || SPACE.test(sign);
}

function isWord(sign: string | undefined): boolean {
  return sign !== undefined && WORD.test(sign);
}
