import type { ConfigProblem } from "./index.ts";

/**
 * Matches JSON tokens and line ends. An unclosed string extends to the end, since retrying at each later quote would
 * take quadratic time.
 */
const TOKEN = /"(?:[^"\\]|\\[^])*"?|[{}[\],]|\n/g;
/** Maximum length of a JSON text, in characters. */
const LONGEST = 256 * 1024;
const DEEPEST = 64;
const BYTE_ORDER_MARK = "\ufeff";
/** Decoders replace invalid UTF-8 with this character. */
const UNREADABLE = "\ufffd";

/**
 * Returns the first error in a JSON text: wrong encoding, excessive length or nesting, or a syntax error with its
 * position. `undefined` if the text is valid.
 */
export function jsonProblem(text: string): ConfigProblem | undefined {
  return encodingProblem(text) ?? sizeProblem(text) ?? syntaxProblem(text);
}

function encodingProblem(text: string): ConfigProblem | undefined {
  if (text.startsWith(BYTE_ORDER_MARK)) {
    return problemAt("The file begins with a byte order mark (U+FEFF): save it as UTF-8 without one");
  }
  const isOther = text.includes("\0") || text.startsWith(UNREADABLE);
  return isOther
    ? problemAt("The file is not UTF-8: save it as UTF-8, without a byte order mark")
    : undefined;
}

function sizeProblem(text: string): ConfigProblem | undefined {
  if (text.length > LONGEST) return problemAt(`The file is longer than ${LONGEST / 1024} KiB: shorten it`);
  let depth = 0;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
    if (depth > DEEPEST)
      return problemAt(`The file is nested more than ${DEEPEST} levels deep: remove brackets`);
  }
  return undefined;
}

/** Returns a syntax error with line and column. Does not quote the text, which may contain secrets. */
function syntaxProblem(text: string): ConfigProblem | undefined {
  const error = syntaxError(text);
  if (error === undefined) return undefined;
  const before = text.slice(0, lengthOfJson(text)).split("\n");
  const what = error
    .replace(/^Unexpected token .*/s, "Unexpected character")
    .replace(/ (?:in JSON|after JSON)? ?at position .*/s, "");
  const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
  return { ...problemAt(`Not valid JSON: ${what} at ${place}`), line: before.length };
}

/**
 * Returns the length of the longest prefix that could still become valid JSON. Used to locate an error, because the
 * parser does not always report a position.
 */
function lengthOfJson(text: string): number {
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const error = syntaxError(text.slice(0, middle));
    const isCutOff = error === "Unexpected end of JSON input" || error?.includes(` at position ${middle} `);
    if (error === undefined || isCutOff) low = middle;
    else high = middle - 1;
  }
  return low;
}

function syntaxError(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : "unreadable";
  }
}

function problemAt(message: string): ConfigProblem {
  return { path: "", message };
}

/** An object or list that is open at the current position of the text. */
interface Open {
  /** Line of each key read so far; absent for a list. */
  keys?: Map<string, number>;
  /** Current key or index. */
  at: string | number;
  /** True if a key or an item may come next. */
  awaits: boolean;
}

interface Place {
  /** Dotted path of the object or list. */
  path: string;
  key: string;
  line: number;
  /** Line of the key's first occurrence in the object; set only for a repeated key. */
  first?: number;
}

/**
 * Yields every key and list item of a text in order, in one pass.
 *
 * @param text valid JSON that has no {@link sizeProblem}
 */
function* placesIn(text: string): Generator<Place> {
  const open: Open[] = [];
  let line = 1;
  for (const [token] of text.matchAll(TOKEN)) {
    if (open.length > DEEPEST) return;
    const inside = open.at(-1);
    if (token === "\n") {
      line += 1;
      continue;
    }
    const path = (): string =>
      open
        .slice(0, -1)
        .map(({ at }) => at)
        .join(".");
    if (inside?.awaits === true && inside.keys === undefined && token !== "]") {
      yield { path: path(), key: String(inside.at), line };
      inside.awaits = false;
    }
    if (token === "{") open.push({ keys: new Map(), at: "", awaits: true });
    else if (token === "[") open.push({ at: 0, awaits: true });
    else if (token === "}" || token === "]") open.pop();
    else if (token === "," && inside !== undefined) {
      inside.awaits = true;
      if (typeof inside.at === "number") inside.at += 1;
    } else if (inside?.keys !== undefined && inside.awaits) {
      const key = JSON.parse(token) as string;
      const first = inside.keys.get(key);
      inside.at = key;
      inside.awaits = false;
      if (first === undefined) inside.keys.set(key, line);
      yield { path: path(), key, line, ...(first !== undefined && { first }) };
    }
  }
}

/**
 * Returns a problem for each key that occurs twice in one object. JSON.parse silently uses the last occurrence, which
 * could drop an allow-list.
 *
 * @param text valid JSON that has no {@link sizeProblem}
 */
export function repeatedKeys(text: string): ConfigProblem[] {
  return [...placesIn(text)].flatMap(({ path, key, line, first }) =>
    first === undefined
      ? []
      : [{ path: path === "" ? key : `${path}.${key}`, message: repeatedText(key, first, line), line }],
  );
}

/**
 * Returns a function that finds the line of a dotted path, or of its closest existing parent. The function returns
 * `undefined` if `text` is not JSON.
 */
export function lineFinder(text: string): (path: string) => number | undefined {
  if (jsonProblem(text) !== undefined) return () => undefined;
  const lines = new Map([["", 1]]);
  for (const { path, key, line } of placesIn(text)) lines.set(path === "" ? key : `${path}.${key}`, line);
  return (path) => {
    let at = path;
    while (!lines.has(at)) at = at.slice(0, Math.max(0, at.lastIndexOf(".")));
    return lines.get(at);
  };
}

function repeatedText(key: string, first: number, second: number): string {
  const where = first === second ? `on line ${first}` : `on lines ${first} and ${second}`;
  return `"${key}" occurs twice, ${where}: JSON uses only the last one, so merge them`;
}
