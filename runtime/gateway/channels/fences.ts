/** A fenced code block: `[start, end)` in the text, without the line feed that follows it. */
export interface Fence {
  start: number;
  end: number;
  /** The line that opens it, language included. */
  opening: string;
  /** The marker that closes it. */
  closing: string;
}

const MARKER = /^ {0,3}(`{3,}|~{3,})(.*)$/;

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
    const [, marker, info = ""] = MARKER.exec(line) ?? [];
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
