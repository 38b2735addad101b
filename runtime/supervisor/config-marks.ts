import type { Environment } from "../contract/environment.ts";
import { createRedactor, looksSecret, namesSecret, type Redactor } from "../shared/redact.ts";

/** A string as JSON or somebody in a hurry writes it, a bracket, or a word without quotes. */
const PIECE = /"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|[{}[\]]|[^\s"'{}[\],:]+/g;
const COLON = /\s*:/y;
const MARK = /"\[kept secret (\d+)\]"/g;
const VARIABLE = /^[A-Z][A-Z0-9_]*$/;
const PLAIN_WORD = /^(?:-?\d[\d.eE+-]*|true|false|null)$/;
/** Characters of a text that is looked into. */
const LONGEST = 64 * 1024;
/** No config is nested like this: every literal below counts as a secret, and no long path is copied for each. */
const DEEPEST = 64;
const TOO_DEEP: readonly string[] = ["secret"];

/** A text of which every secret has been replaced by a numbered mark. */
export interface MarkedText {
  text: string;
  /** The text behind each mark by its number, as the file writes it, quotes included. */
  secrets: ReadonlyMap<number, string>;
  /** Dotted paths of each secret's first place, by number. */
  places: ReadonlyMap<number, string>;
}

/** One string or word of a text. */
interface Literal {
  raw: string;
  value: string;
  index: number;
  isKey: boolean;
  path: readonly string[];
  /** The value in front of it. */
  before?: string;
}

/** Details of secrets before a text is looked through. */
export interface KnownSecrets {
  environment: Environment;
  /** Values that config and environment name. */
  values: readonly string[];
  /**
   * For a file that is no JSON, whose places tell nothing: every word of it but these keys is a secret. Absent: secrets
   * are recognised by their places.
   */
  keys?: ReadonlySet<string>;
  /** Numbers that are given already, so that a secret keeps its own. */
  marked?: ReadonlyMap<number, string>;
}

/**
 * Replaces every literal secret of a config's text by a mark such as `"[kept secret 1]"`. The text need not be
 * JSON: one with a comma too many is edited too. A text too long to be a config is one secret.
 */
export function markSecrets(text: string, known: KnownSecrets): MarkedText {
  const redact = createRedactor(known.environment, known.values);
  const literals = text.length > LONGEST ? [whole(text)] : readLiterals(text).filter(isUnmarked);
  const ownSecrets = new Set(literals.filter((one) => isSecret(one, redact, known.keys)));
  const own = [...ownSecrets].map(({ value }) => value);
  const values = new Set([...own, ...known.values].filter((value) => value !== ""));
  const numbers = new Map([...(known.marked ?? [])].map(([number, raw]) => [raw, number]));
  const taken = new Set([...numbers.values(), ...marksIn(text)]);
  const secrets = new Map<number, string>();
  const places = new Map<number, string>();
  let next = 1;
  const numberOf = (raw: string): number => {
    const given = numbers.get(raw);
    if (given !== undefined) return given;
    while (taken.has(next)) next += 1;
    taken.add(next);
    numbers.set(raw, next);
    return next;
  };
  let shown = "";
  let end = 0;
  for (const literal of literals) {
    const { raw, value, index, isKey, path } = literal;
    if (!ownSecrets.has(literal) && (isKey || !values.has(value))) continue;
    const number = numberOf(raw);
    secrets.set(number, raw);
    if (!places.has(number)) places.set(number, redact(path.join(".")));
    shown += `${text.slice(end, index)}"[kept secret ${number}]"`;
    end = index + raw.length;
  }
  return { text: shown + text.slice(end), secrets, places };
}

function isUnmarked({ raw }: Literal): boolean {
  return marksIn(raw).length === 0;
}

function whole(text: string): Literal {
  return { raw: text, value: text, index: 0, isKey: false, path: TOO_DEEP };
}

/** Puts the secrets back in place of their marks. An unknown mark stays. */
export function unmarkSecrets(text: string, secrets: ReadonlyMap<number, string>): string {
  return text.replace(MARK, (mark, number: string) => secrets.get(Number(number)) ?? mark);
}

/** The numbers of all marks in a text. */
export function marksIn(text: string): number[] {
  return [...text.matchAll(MARK)].map(([, number]) => Number(number));
}

function isSecret(
  { raw, value, isKey, path, before }: Literal,
  redact: Redactor,
  keys: ReadonlySet<string> | undefined,
): boolean {
  if (value === "") return false;
  if (keys !== undefined) return !(isKey && keys.has(value)) && !/^(?:true|false|null)$/.test(raw);
  if (redact(value) !== value) return true;
  if (isKey || PLAIN_WORD.test(raw)) return false;
  if (looksSecret(value, path.includes("args") ? before : undefined)) return true;
  if (path.at(-1) === "env" && VARIABLE.test(value)) return false;
  // Below `env` and `headers` of an MCP server everything is one.
  return path.some(namesSecret) || path.slice(0, -1).some((key) => key === "env" || key === "headers");
}

/** All strings and words with the keys that lead to them, judging by the brackets alone. */
function readLiterals(text: string): Literal[] {
  const literals: Literal[] = [];
  const above: string[] = [];
  let key = "";
  for (const { 0: raw, index } of text.matchAll(PIECE)) {
    if (raw === "{" || raw === "[") {
      above.push(key);
      key = "";
      continue;
    }
    if (raw === "}" || raw === "]") {
      above.pop();
      key = "";
      continue;
    }
    COLON.lastIndex = index + raw.length;
    const isKey = COLON.test(text);
    const value = decode(raw);
    if (isKey) key = value;
    const before = literals.at(-1);
    literals.push({
      raw,
      value,
      index,
      isKey,
      path: above.length > DEEPEST ? TOO_DEEP : [...above, key].filter((part) => part !== ""),
      ...(before?.isKey === false && { before: before.value }),
    });
    if (!isKey) key = "";
  }
  return literals;
}

function decode(raw: string): string {
  try {
    const value: unknown = JSON.parse(raw);
    return typeof value === "string" ? value : raw;
  } catch {
    return raw.replaceAll(/^["']|["']$/g, "");
  }
}
