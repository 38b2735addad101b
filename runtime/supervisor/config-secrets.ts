import { jsonProblem, repeatedKeys } from "../contract/config/json-text.ts";
import { schemaKeys } from "../contract/config/schema-at.ts";
import { secretValuesIn } from "../contract/config/text.ts";
import type { Environment } from "../contract/environment.ts";
import {
  createRedactor,
  looksLikeSecret,
  MASK,
  looksLikeSecretName,
  type Redactor,
  redactValue,
} from "../shared/redact.ts";

/** Matches a quoted string, even if unterminated, or an unquoted word. */
const PIECE = /"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|[^\s"'{}[\],:]+/g;
const COLON = /\s*:/y;
/** Matches a harmless value after the name of a secret: a reference, a number, `true`, `false` or `null`. */
const HARMLESS =
  /\s*:\s*(?:\{\s*"env"\s*:\s*"[A-Z][A-Z0-9_]*"\s*\}|(?:-?\d[\d.]*|true|false|null)(?=\s*[,}\n]))/y;
const VARIABLE = /^[A-Z][A-Z0-9_]*$/;
const VARIABLE_NAME = /\s*:\s*"[A-Z][A-Z0-9_]*"\s*\}/y;
/**
 * Maximum length, in characters, of text that is searched for secrets word by word. Longer text is masked completely.
 */
const LONGEST = 256 * 1024;

export interface ShownText {
  text: string;
  /** Dotted paths of the redacted secrets; a single empty path if the text is invalid JSON or repeats a key. */
  secrets: string[];
}

/** Redacts the literal secrets in a config file. In invalid JSON that may contain a secret, masks all values. */
export function withoutSecrets(text: string, environment: Environment): ShownText {
  const values = secretValuesIn(text, environment);
  const redact = createRedactor(environment, values);
  // If a key occurs twice, parsing drops the first value, which may contain a secret.
  if (jsonProblem(text) !== undefined || repeatedKeys(text).length > 0) {
    return mayHoldSecret(text, redact)
      ? { text: maskValues(text, redact), secrets: [""] }
      : { text, secrets: [] };
  }
  const value: unknown = JSON.parse(text);
  const secrets: string[] = [];
  const known = { redact, values: new Set(values.filter((one) => one !== "")), secrets };
  const masked = mask(value, redactValue(value, redact), [], known);
  return secrets.length === 0 ? { text, secrets } : { text: `${JSON.stringify(masked, null, 2)}\n`, secrets };
}

interface Known {
  redact: Redactor;
  values: ReadonlySet<string>;
  secrets: string[];
}

/**
 * Returns `value` with its secrets masked, and adds their paths to `known.secrets`. A string is a secret if
 * `known.values` contains it, or if it differs in `copy`, the redacted form of `value`.
 */
function mask(value: unknown, copy: unknown, path: readonly string[], known: Known): unknown {
  if (typeof value === "string") {
    // Report a string that contains a mask: saving it would replace the secret with the mask.
    if (copy === value && !known.values.has(value) && !value.includes(MASK)) return value;
    known.secrets.push(known.redact(path.join(".")));
    return copy === value ? MASK : copy;
  }
  if (Array.isArray(value) && Array.isArray(copy)) {
    return value.map((item, at) => mask(item, copy[at], [...path, String(at)], known));
  }
  if (typeof value !== "object" || value === null) return value;
  const shown = Object.entries(value).map(([key, item]) => {
    const name = known.redact(key);
    if (name !== key) known.secrets.push([...path, name].join("."));
    return [name, mask(item, Object(copy)[key], [...path, key], known)] as const;
  });
  return Object.fromEntries(shown);
}

/**
 * Returns true if the text may contain a secret: a value that looks like one, or a key such as `token` without a
 * {@link HARMLESS} value.
 */
function mayHoldSecret(text: string, redact: Redactor): boolean {
  if (text.length > LONGEST || redact(text) !== text) return true;
  let before: string | undefined;
  for (const { 0: raw, index } of text.matchAll(PIECE)) {
    const value = decode(raw);
    const end = index + raw.length;
    if (looksLikeSecret(value, before)) return true;
    const isName = before === "env" && VARIABLE.test(value);
    before = value;
    if (isName) continue;
    if (value === "env" ? !follows(VARIABLE_NAME, text, end) : isOpen(value) && !follows(HARMLESS, text, end))
      return true;
  }
  return false;
}

function isOpen(value: string): boolean {
  return looksLikeSecretName(value) || value.includes("headers") || /\benv\b/.test(value);
}

function follows(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

/**
 * Masks all words except `true`, `false`, `null` and the config schema's property names. Used if the text cannot be
 * parsed reliably.
 */
export function maskValues(text: string, redact: Redactor): string {
  if (text.length > LONGEST) return JSON.stringify(MASK);
  const keys = schemaKeys();
  return text.replaceAll(PIECE, (raw, index: number) => {
    const value = decode(raw);
    const isKey = keys.has(value) && follows(COLON, text, index + raw.length);
    const isPlain = value === "" || isKey || /^(?:true|false|null)$/.test(raw);
    return isPlain && redact(value) === value ? raw : JSON.stringify(MASK);
  });
}

function decode(raw: string): string {
  try {
    const value: unknown = JSON.parse(raw);
    return typeof value === "string" ? value : raw;
  } catch {
    return raw.replaceAll(/^["']|["']$/g, "");
  }
}
