/**
 * Tells which regular expressions take linear time whatever they read, by their form alone. The others have to be run by
 * a reader that is measured.
 */

/** One place of a pattern: which characters fit, and whether it may repeat without a limit, or be missing. */
interface Place {
  fits: RegExp;
  unbounded: boolean;
  optional: boolean;
}

/** Every character that tells classes apart: those of two bytes, and the ends of lines that `.` and `\s` know. */
const CHARACTERS = [
  ...Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code)),
  "\u2028",
  "\u3000",
];
const TOKEN =
  /\\[pP]\{[^}]*\}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\[^]|\[(?:\\[^]|[^\]\\])*\]|\(\?<?[=!:]|\(\?<\w+>|[()|]|(?:[*+?]|\{\d+(?:,\d*)?\})\??|[^]/gi;
const MAX_ALTERNATIVES = 400;

/**
 * True if a pattern cannot be slow: nothing inside a repeated group, before a look or behind a reference repeats; what
 * repeats without a limit is told apart from what follows it by one character; and, unless the pattern is anchored at
 * the text's beginning, a new attempt cannot begin inside what the last one passed.
 */
export function isPlainlyLinear(literal: string): boolean {
  const end = literal.lastIndexOf("/");
  const flags = literal.slice(end + 1);
  const tokens = literal.slice(1, end).match(TOKEN) ?? [];
  if (!tokens.some((token) => /^(?:[*+]|\{\d+,\})/.test(token))) return true;
  const alternatives = expand(tokens, flags);
  return alternatives !== undefined && alternatives.every((places) => isDeterministic(places, flags));
}

type Item = Place | "^" | "$";

/** The pattern's alternatives as places in a row; `undefined` for what this does not understand. */
function expand(tokens: readonly string[], flags: string): Item[][] | undefined {
  let at = 0;
  const quantifier = (): string => {
    const token = tokens[at] ?? "";
    if (!/^(?:[*+?]|\{\d)/.test(token)) return "";
    at += 1;
    return token;
  };
  const group = (): Item[][] | undefined => {
    const all: Item[][] = [];
    let rows: Item[][] = [[]];
    while (at < tokens.length && tokens[at] !== ")") {
      const token = tokens[at] ?? "";
      at += 1;
      if (token === "|") {
        all.push(...rows);
        rows = [[]];
        continue;
      }
      let more: Item[][];
      if (token.startsWith("(")) {
        if (/^\(\?<?[=!]/.test(token)) return undefined;
        const inside = group();
        at += 1;
        const count = quantifier();
        if (inside === undefined || (count !== "" && count !== "?")) return undefined;
        more = count === "?" ? [...inside, []] : inside;
      } else if (token === "^" || token === "$") more = [[token]];
      else if (/^\\[1-9kbB]/.test(token)) return undefined;
      else more = [[placeOf(token, quantifier(), flags)]];
      rows = rows.flatMap((row) => more.map((next) => row.concat(next)));
      if (rows.length > MAX_ALTERNATIVES) return undefined;
    }
    return [...all, ...rows];
  };
  return group();
}

function placeOf(token: string, count: string, flags: string): Place {
  return {
    fits: new RegExp(`^${token}$`, flags.replaceAll(/[gym]/g, "")),
    unbounded: /^(?:[*+]|\{\d+,\})/.test(count),
    optional: /^(?:[*?]|\{0)/.test(count),
  };
}

function isDeterministic(items: readonly Item[], flags: string): boolean {
  const places = items.filter((item): item is Place => typeof item !== "string");
  const anchored = flags.includes("y") || (items[0] === "^" && !flags.includes("m"));
  // One place that repeats gives up each of its characters once, and each time little follows.
  if (anchored && places.filter(({ unbounded }) => unbounded).length <= 1) return true;
  return places.every((place, index) => {
    if (!place.unbounded) return true;
    const isLast = index === places.length - 1;
    const behind = places.slice(index + 1);
    const mandatory = behind.findIndex(({ optional }) => !optional);
    const next = mandatory === -1 ? behind : behind.slice(0, mandatory + 1);
    const isToldApart = next.every((other) => !overlap(place, other));
    if (anchored) return isToldApart;
    // Whatever it begins with, an attempt that has come this far is a match.
    const isFirst = index === places.findIndex(({ unbounded }) => unbounded);
    if (isLast && isFirst && items.at(-1) !== "$") return true;
    const before = places.slice(0, index);
    return (
      isToldApart && before.some((other) => !other.optional && !other.unbounded && !overlap(place, other))
    );
  });
}

function overlap(one: Place, other: Place): boolean {
  return CHARACTERS.some((character) => one.fits.test(character) && other.fits.test(character));
}
