const OPENING = /^ {0,3}#{1,6}[ \t]/;

/** A fenced code block: `[start, end)` in the text, without the line feed that follows it. */
export interface Fence {
  start: number;
  end: number;
  /** The line that opens it, language included. */
  opening: string;
  /** The marker that closes it. */
  closing: string;
}

/** The marker of a line that opens or closes a code block, and what stands behind it. */
function markerOf(line: string): { marker?: string; info: string } {
  const [, marker = "", info = ""] = /^ {0,3}(`+|~+)(.*)$/su.exec(line) ?? [];
  return marker.length < 3 ? { info: "" } : { marker, info };
}

/**
 * Finds the fenced code blocks of a text (CommonMark 0.31, section 4.5): a line of three or more
 * backticks or tildes opens one, a line of at least as many of the same closes it. A block that is
 * never closed reaches to the text's end.
 */
export function fences(text: string): Fence[] {
  const found: Fence[] = [];
  let open: Fence | undefined;
  let start = 0;
  for (const line of text.split("\n")) {
    const { marker, info } = markerOf(line);
    if (open !== undefined) open.end = start + line.length;
    if (marker !== undefined && open === undefined && !(marker.startsWith("`") && info.includes("`"))) {
      open = { start, end: start + line.length, opening: line, closing: marker };
      found.push(open);
    } else if (marker !== undefined && open !== undefined && closes(marker, info, open)) {
      open = undefined;
    }
    start += line.length + 1;
  }
  return found;
}

function closes(marker: string, info: string, { closing }: Fence): boolean {
  return marker[0] === closing[0] && marker.length >= closing.length && info.trim() === "";
}

/**
 * The words of a heading's line (CommonMark 0.31, section 4.2), `undefined` where it is none or says nothing.
 * In steps: one expression for all of it, or for its closing signs, takes minutes over a long line of blanks or signs.
 */
export function headingOf(line: string): string | undefined {
  const opening = line.includes("#") ? OPENING.exec(line)?.[0] : undefined;
  if (opening === undefined) return undefined;
  const words = line.slice(opening.length).trim();
  let end = words.length;
  while (words[end - 1] === "#") end -= 1;
  const closing = words.length - end;
  // "C#" ends in a sign of its own, not in the heading's end.
  const isClosed = closing > 0 && /^$|[ \t]$/.test(words.slice(0, words.length - closing));
  const said = isClosed ? words.slice(0, words.length - closing).trimEnd() : words;
  return said === "" ? undefined : said;
}

/** Returns a line as the item of a list (CommonMark 0.31, section 5.2), without its sign; `undefined` for other lines. */
export function itemOf(line: string): { indent: string; text: string } | undefined {
  const at = line.length - line.trimStart().length;
  const gap = line[at + 1];
  if ((gap !== " " && gap !== "\t") || !"-*+".includes(line[at] ?? " ")) return undefined;
  return { indent: line.slice(0, at), text: line.slice(at + 2).trimStart() };
}

/** Returns true for a line that separates sections (CommonMark 0.31, section 4.1): three or more of one sign. */
export function isBreak(line: string): boolean {
  let sign = "";
  let count = 0;
  for (const one of line) {
    if (one === " " || one === "\t") continue;
    if (!"-*_".includes(one) || (count > 0 && one !== sign)) return false;
    sign = one;
    count += 1;
  }
  return count >= 3;
}
