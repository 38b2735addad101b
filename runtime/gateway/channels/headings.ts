const OPENING = /^ {0,3}#{1,6}[ \t]/;

/**
 * The words of a heading's line (CommonMark 0.31, section 4.2), `undefined` where it is none or says nothing.
 * In steps: one expression for all of it, or for its closing signs, takes minutes over a long line of blanks or signs.
 */
export function headingOf(line: string): string | undefined {
  const opening = OPENING.exec(line)?.[0];
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
