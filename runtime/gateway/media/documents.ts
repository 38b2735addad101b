import { unzipSync } from "fflate";

/** Maximum total size, in bytes, that an archive may declare for its unpacked parts. */
const MAX_UNPACKED = 64_000_000;
/** Characters. No question can contain more. */
const MAX_TEXT = 1_000_000;
const MAX_PAGES = 500;
/** Maximum number of empty cells to insert for columns that a row skips. */
const MAX_EMPTY_CELLS = 100;

/**
 * The next four patterns match the names of archive parts with text (ISO/IEC 29500-1: docx, pptx, xlsx; OpenDocument
 * 1.3, part 2).
 */
const WORD = /^word\/(?:document|footnotes|endnotes)\.xml$/;
const SLIDE = /^ppt\/(?:slides\/slide|notesSlides\/notesSlide)(\d{1,5})\.xml$/;
const SHEET = /^xl\/(?:workbook|sharedStrings|_rels\/workbook\.xml\.rels|worksheets\/[^/]{1,80})(?:\.xml)?$/;
const OPEN = /^content\.xml$/;
const PARTS = [WORD, SLIDE, SHEET, OPEN];

type Parts = Readonly<Record<string, string>>;

/** Text of a PDF. A scanned page has none. */
interface PdfText {
  pages: number;
  text: string;
  /** True if a password is needed. */
  locked?: boolean;
}

/**
 * Extracts the text of a PDF.
 *
 * @throws if pdf.js cannot repair a broken file.
 */
export async function pdfText(data: Uint8Array): Promise<PdfText> {
  const { getDocumentProxy } = await import("unpdf");
  const pdf = await getDocumentProxy(new Uint8Array(data)).catch((error: unknown) => {
    if (error instanceof Error && error.name === "PasswordException") return undefined;
    throw error;
  });
  if (pdf === undefined) return { pages: 0, text: "", locked: true };
  const texts: string[] = [];
  let length = 0;
  for (let number = 1; number <= Math.min(pdf.numPages, MAX_PAGES) && length < MAX_TEXT; number += 1) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const words = items.map((item) => ("str" in item ? `${item.str}${item.hasEOL ? "\n" : ""}` : ""));
    const text = words.join("").trim();
    if (text !== "") texts.push(text);
    length += text.length;
    page.cleanup();
  }
  return { pages: pdf.numPages, text: texts.join("\n\n") };
}

/**
 * Extracts the text of an Office or OpenDocument archive; `undefined` for other archives.
 *
 * @throws if the archive is broken, or unpacks to more than 64 MB.
 */
export function officeText(data: Uint8Array): string | undefined {
  const parts = unpacked(data);
  if ("word/document.xml" in parts) return paragraphs(parts, WORD);
  if ("xl/workbook.xml" in parts) return sheets(parts);
  if (Object.keys(parts).some((name) => SLIDE.test(name))) return slides(parts);
  return "content.xml" in parts ? paragraphs(parts, OPEN) : undefined;
}

function unpacked(data: Uint8Array): Parts {
  let left = MAX_UNPACKED;
  const files = unzipSync(data, {
    filter: ({ name, originalSize }) => {
      if (!PARTS.some((part) => part.test(name))) return false;
      left -= originalSize;
      if (left < 0) throw new Error("The file unpacks to too much.");
      return true;
    },
  });
  const decoder = new TextDecoder();
  return Object.fromEntries(Object.entries(files).map(([name, content]) => [name, decoder.decode(content)]));
}

/** One line per paragraph or table row. */
function paragraphs(parts: Parts, part: RegExp): string {
  const names = Object.keys(parts).filter((name) => part.test(name));
  return names.map((name) => xmlText(parts[name] ?? "")).join("\n");
}

function slides(parts: Parts): string {
  const numbered = Object.keys(parts).flatMap((name) => {
    const number = SLIDE.exec(name)?.[1];
    return number === undefined ? [] : [{ name, number: Number(number) }];
  });
  const sorted = numbered.sort((a, b) => a.number - b.number || (a.name < b.name ? 1 : -1));
  return sorted
    .map(({ name, number }) => {
      const heading = name.includes("notes") ? `Notes ${number}` : `Slide ${number}`;
      return `${heading}\n${xmlText(parts[name] ?? "")}`;
    })
    .join("\n");
}

/**
 * Extracts text from the elements `w:t` and `a:t` in Microsoft's formats, and from paragraphs in OpenDocument. A
 * table row becomes a line with tabs between cells.
 */
function xmlText(xml: string): string {
  const lines: string[] = [];
  let row: string[] = [];
  let text = "";
  let length = 0;
  let inWords = 0;
  let inCell = 0;
  walk(xml, (name, { closes, alone }, words) => {
    const ends = closes || alone;
    const step = alone ? 0 : closes ? -1 : 1;
    if (WORDS.test(name)) inWords += step;
    if (CELL.test(name)) inCell += step;
    if (!closes) text += BREAKS[name] ?? "";
    if (ends && CELL.test(name)) {
      row.push(text.trim());
      text = "";
    } else if (ends && ROW.test(name)) {
      lines.push(row.join("\t"));
      row = [];
    } else if (ends && PARAGRAPH.test(name) && inCell > 0) {
      text += " ";
    } else if (ends && PARAGRAPH.test(name)) {
      lines.push(text);
      text = "";
    }
    if (inWords > 0) {
      text += words;
      length += words.length;
    }
    return length < MAX_TEXT;
  });
  return [...lines, text].join("\n").trim();
}

const WORDS = /^(?:[wa]:t|text:[ph])$/;
const PARAGRAPH = /^(?:[wa]:p|text:[ph])$/;
const CELL = /^(?:[wa]:tc|table:table-cell)$/;
const ROW = /^(?:[wa]:tr|table:table-row)$/;
const BREAKS: Readonly<Record<string, string>> = {
  "w:tab": "\t",
  "text:tab": "\t",
  "text:s": " ",
  "w:br": "\n",
  "w:cr": "\n",
  "a:br": "\n",
  "text:line-break": "\n",
};

/** Returns the text of a workbook: one line per row, with tabs between cells. Dates appear as serial numbers. */
function sheets(parts: Parts): string {
  const shared = sharedStrings(parts["xl/sharedStrings.xml"] ?? "");
  const targets = new Map<string, string>();
  walk(parts["xl/_rels/workbook.xml.rels"] ?? "", (name, { attributes }) => {
    if (name === "Relationship")
      targets.set(attributes("Id"), attributes("Target").replace(/^\/?(?:xl\/)?/, "xl/"));
    return true;
  });
  const found: string[] = [];
  walk(parts["xl/workbook.xml"] ?? "", (name, { attributes }) => {
    const xml = name === "sheet" ? parts[targets.get(attributes("r:id")) ?? ""] : undefined;
    if (xml !== undefined) found.push(`Sheet ${attributes("name")}\n${rows(xml, shared)}`);
    return true;
  });
  return found.join("\n");
}

function sharedStrings(xml: string): string[] {
  const strings: string[] = [];
  let text = "";
  let inWords = false;
  walk(xml, (name, { closes, alone }, words) => {
    if (name === "si" && !closes) text = "";
    if (name === "si" && (closes || alone)) strings.push(text);
    if (name === "t") inWords = !closes && !alone;
    if (inWords) text += words;
    return true;
  });
  return strings;
}

function rows(xml: string, shared: readonly string[]): string {
  const lines: string[] = [];
  let row: string[] = [];
  let length = 0;
  let type = "";
  let value = "";
  let inValue = false;
  walk(xml, (name, { closes, alone, attributes }, words) => {
    if (name === "c" && !closes) {
      const empty = Math.min(columnOf(attributes("r")) - row.length, MAX_EMPTY_CELLS);
      for (let cell = 0; cell < empty; cell += 1) row.push("");
      type = attributes("t");
      value = "";
    }
    if (name === "v" || name === "t") inValue = !closes && !alone;
    if (inValue) value += words;
    if (name === "c" && (closes || alone)) {
      row.push(type === "s" ? (shared[Number(value)] ?? "") : value);
      length += (row.at(-1) ?? "").length + 1;
    }
    if (name === "row" && closes) {
      lines.push(row.join("\t").trimEnd());
      row = [];
    }
    return length < MAX_TEXT;
  });
  return [...lines, ...(row.length > 0 ? [row.join("\t")] : [])].join("\n");
}

/** Returns the zero-based column of a cell reference: 27 for `AB12`. */
function columnOf(reference: string): number {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0] ?? "A";
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

interface Tag {
  closes: boolean;
  /** True for `<a/>`. */
  alone: boolean;
  /** Empty if the attribute is missing. */
  attributes(name: string): string;
}

/**
 * Calls `visit` for each tag and the text after it, until `visit` returns false. Takes linear time and expands no
 * entities that the file declares.
 */
function walk(xml: string, visit: (name: string, tag: Tag, words: string) => boolean): void {
  let at = xml.indexOf("<");
  while (at !== -1) {
    const end = xml.indexOf(">", at);
    if (end === -1) return;
    const next = xml.indexOf("<", end);
    const tag = xml.slice(at + 1, end);
    const name = /^\/?([\w:.-]{1,60})/.exec(tag)?.[1] ?? "";
    const words = unescaped(xml.slice(end + 1, next === -1 ? undefined : next));
    const closes = tag.startsWith("/");
    const attributes = (wanted: string): string => attribute(tag, wanted);
    if (name !== "" && !visit(name, { closes, alone: tag.endsWith("/"), attributes }, words)) return;
    at = next;
  }
}

function attribute(tag: string, name: string): string {
  const start = tag.indexOf(` ${name}="`);
  if (start === -1) return "";
  const from = start + name.length + 3;
  const end = tag.indexOf('"', from);
  return end === -1 ? "" : unescaped(tag.slice(from, end));
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** Replaces XML's predefined entities (https://www.w3.org/TR/xml/#sec-predefined-ent). */
function unescaped(text: string): string {
  return text.replace(/&(?:#x([0-9a-fA-F]{1,6})|#(\d{1,7})|([a-z]{2,4}));/g, (whole, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[name as string] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex as string, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : "";
  });
}
