/**
 * Characters that a terminal obeys, hides or puts in another order: control characters but line feed and tab, bidi
 * controls (https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters), invisible blanks, annotations,
 * tags, and halves of a surrogate pair. Joiners and variation selectors stay, which letters and emoji are made with.
 */
const UNSEEN =
  /[[\p{Cc}--[\n\t]]\p{Cs}\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gv;

/** Not a part of a raw template for each character: that takes twice as long. */
const BACKSLASH_U = String.raw`\u`;

/**
 * Returns a text with such characters escaped as in JSON: `\u001b`. A JSON text keeps its value by it, since they are
 * in its strings alone.
 */
export function escapeControlCharacters(text: string): string {
  return text.replace(UNSEEN, escaped);
}

/** A stream of text, such as a terminal. */
interface TextStream {
  write(text: string): unknown;
}

/** Writes a text to a stream, made {@link escapeControlCharacters}. `style` then adds the program's own control sequences. */
export function writeText(stream: TextStream, text: string, style = (shown: string) => shown): void {
  stream.write(style(escapeControlCharacters(text)));
}

/** Returns true if somebody reads standard output on a terminal. */
export function isTerminal(): boolean {
  return process.stdout.isTTY;
}

/** Writes a text to standard output; see {@link writeText}. */
export function print(text: string): void {
  writeText(process.stdout, text);
}

/** Writes a text to standard error; see {@link writeText}. */
export function printError(text: string): void {
  writeText(process.stderr, text);
}

function escaped(character: string): string {
  let shown = "";
  for (let at = 0; at < character.length; at += 1)
    shown += BACKSLASH_U + character.charCodeAt(at).toString(16).padStart(4, "0");
  return shown;
}
