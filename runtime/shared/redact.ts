import { secretNames, type Environment } from "../contract/variables.ts";

export const MASK = "[redacted]";
/** Length of the shortest value to mask. Shorter values occur in ordinary text, and no real token is so short. */
const SHORTEST_SECRET = 6;
const SECRET_KEY = /(token|secret|password|apikey|api_key|authorization|cookie|credential)/i;
/**
 * Patterns of known tokens: Slack, model providers (`sk-`), Telegram, Discord interactions, Bearer. Each pattern must
 * match in linear time, because the text may come from strangers.
 */
const SECRET_FORMS = [
  /\bxox[abeoprs]-[\w-]{8,}/g,
  /\bsk-[\w-]{16,}/g,
  /\b\d{6,12}:[\w-]{30,}/g,
  // "interaction:" in base64.
  /\baW50ZXJhY3Rpb246[\w=-]+/g,
  /(?<=\bBearer\s)[\w.~+/-]{8,}=*/gi,
];

/**
 * First of three words separated by dots, as in a JWT. The lookahead does not consume the other two, because one of
 * them may begin a JWT.
 */
const FIRST_OF_THREE = /(?<![\w-])[\w-]{11,}(?=\.[\w-]{8,}\.)/g;
/** Beginning of a JWT header: `{"` in base64 and at least eight more characters. */
const HEADER = /(?:^|-)(?=eyJ[\w-]{8})/;
const PAYLOAD_AND_SIGNATURE = /\.[\w-]+\.[\w-]*/y;

/** Masks JWTs in linear time: scans each word at most three times. */
function withoutJwts(text: string): string {
  let masked = "";
  let end = 0;
  for (const { 0: word, index } of text.matchAll(FIRST_OF_THREE)) {
    const found = HEADER.exec(word);
    if (found === null || index < end) continue;
    masked += text.slice(end, index + found.index + found[0].length) + MASK;
    PAYLOAD_AND_SIGNATURE.lastIndex = index + word.length;
    PAYLOAD_AND_SIGNATURE.test(text);
    end = PAYLOAD_AND_SIGNATURE.lastIndex;
  }
  return masked + text.slice(end);
}

export function looksLikeSecretName(key: string): boolean {
  return SECRET_KEY.test(key);
}

export type Redactor = (text: string) => string;

/**
 * Returns a function that masks the environment's secret values and known forms of tokens.
 *
 * @param others Further secret values, such as a token in the config file.
 */
export function createRedactor(environment: Environment, others: readonly string[] = []): Redactor {
  const values = [...secretNames(environment).map((name) => environment[name]), ...others]
    .filter((value): value is string => value !== undefined && value.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    const known = values.reduce((rest, value) => rest.replaceAll(value, MASK), text);
    return SECRET_FORMS.reduce((rest, form) => rest.replace(form, MASK), withoutJwts(known));
  };
}

/**
 * Returns true for `{"env": "NAME"}`, which only names a variable. Other values of `env` may be secrets pasted by
 * mistake.
 */
function isReference(entries: [string, unknown][], redact: Redactor): boolean {
  const [[key, name] = []] = entries;
  const isName = typeof name === "string" && /^[A-Z][A-Z0-9_]*$/.test(name) && redact(name) === name;
  return entries.length === 1 && key === "env" && isName;
}

/** Keys in an MCP server's config. All strings under these keys are treated as secrets. */
const OPAQUE_KEYS = new Set(["headers", "env"]);
/** An argument such as `--api-key` or `--api-key=…`. */
const SECRET_FLAG = /^--?[\w-]{0,64}(?:token|secret|password|key|credential|auth)[\w-]{0,64}(=|$)/i;
const URL_FORM = /^(?:https?|wss?):\/\//i;
const USER_OF_URL = /^([a-z]+:\/\/)[^/?#@]*@/i;
const QUERY_VALUE = /([?&][^=?&#]*=)[^?&#]+/g;

/**
 * Returns a copy of a JSON value with all secrets masked: tokens, the values of keys whose names suggest a secret,
 * and credentials and query values in URLs. Also masks MCP servers' headers, variables and secret-looking arguments.
 * Does not mask references to variables.
 */
export function redactValue(value: unknown, redact: Redactor, key = ""): unknown {
  if (typeof value === "string") return isSecretKey(key) ? MASK : redactText(value, redact);
  if (Array.isArray(value)) {
    const items = value.map((item) => redactValue(item, redact, key));
    return key === "args" ? items.map((item, at) => redactArgument(item, value[at - 1])) : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  if (isReference(entries, redact)) return value;
  return Object.fromEntries(
    entries.map(([name, item]) => [name, redactValue(item, redact, isSecretKey(key) ? key : name)]),
  );
}

function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key) || OPAQUE_KEYS.has(key);
}

function redactText(text: string, redact: Redactor): string {
  const redacted = redact(text);
  return URL_FORM.test(redacted) ? withoutUrlSecrets(redacted) : redacted;
}

function withoutUrlSecrets(url: string): string {
  return url.replace(USER_OF_URL, `$1${MASK}@`).replace(QUERY_VALUE, `$1${MASK}`);
}

/**
 * Returns true if a config string contains a secret, for example in a URL or as the argument after the flag
 * `before`.
 */
export function looksLikeSecret(text: string, before?: string): boolean {
  return redactText(text, (same) => same) !== text || redactArgument(text, before) !== text;
}

/** Masks the value of a secret flag: the text after `=`, or the whole argument if `before` is the flag. */
function redactArgument(argument: unknown, before: unknown): unknown {
  if (typeof argument !== "string") return argument;
  const [flag, separator] = SECRET_FLAG.exec(argument) ?? [];
  if (flag !== undefined) return separator === "=" ? `${flag}${MASK}` : argument;
  return typeof before === "string" && SECRET_FLAG.exec(before)?.[1] === "" ? MASK : argument;
}
