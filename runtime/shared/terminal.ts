/**
 * Characters that a terminal interprets, hides or reorders: control characters except line feed and tab, bidi controls
 * (https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters), invisible spaces, annotations, tags and
 * lone surrogates. Joiners and variation selectors are allowed because letters and emoji need them.
 */
const UNSEEN =
  /[[\p{Cc}--[\n\t]]\p{Cs}\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gv;

/**
 * Beginning of an escape sequence. A constant, because evaluating `String.raw` for each character would make the
 * escaping take more than twice as long.
 */
const BACKSLASH_U = String.raw`\u`;

/**
 * Inserts JSON escapes, such as `\u001b`, in place of characters that a terminal interprets, hides or reorders. JSON
 * text still parses to the same value.
 */
export function escapeControlCharacters(text: string): string {
  return text.replace(UNSEEN, escaped);
}

interface TextStream {
  write(text: string): unknown;
}

/** Writes text with its control characters escaped. `style` can color the escaped text. */
export function writeText(stream: TextStream, text: string, style = (shown: string) => shown): void {
  stream.write(style(escapeControlCharacters(text)));
}

export function isTerminal(): boolean {
  return process.stdout.isTTY;
}

export function print(text: string): void {
  writeText(process.stdout, text);
}

export function printError(text: string): void {
  writeText(process.stderr, text);
}

function escaped(character: string): string {
  let shown = "";
  for (let at = 0; at < character.length; at += 1)
    shown += BACKSLASH_U + character.charCodeAt(at).toString(16).padStart(4, "0");
  return shown;
}
