import { secretNames, type Environment } from "../contract/variables.ts";

/** Text in a secret's place. */
export const MASK = "[redacted]";
/** Shorter values occur in ordinary text by chance; no real token is that short. */
const SHORTEST_SECRET = 6;
const SECRET_KEY = /(token|secret|password|apikey|api_key|authorization|cookie|credential)/i;
/**
 * Tokens by their form, wherever they come from: Slack, Anthropic, Telegram, Discord's interactions, Bearer. Texts are
 * strangers' too, so each form has to be found in linear time: no two of its starts may scan the same text.
 */
const SECRET_FORMS = [
  /\bxox[abeoprs]-[\w-]{8,}/g,
  /\bsk-[\w-]{16,}/g,
  /\b\d{6,12}:[\w-]{30,}/g,
  // "interaction:" in base64.
  /\baW50ZXJhY3Rpb246[\w=-]+/g,
  /(?<=\bBearer\s)[\w.~+/-]{8,}=*/gi,
];

/** A word that two others follow between dots, as the header of a JWT. They are not taken: one may be a header itself. */
const FIRST_OF_THREE = /(?<![\w-])[\w-]{11,}(?=\.[\w-]{8,}\.)/g;
/** The beginning of a JWT's header, `{"` in base64, with enough behind it. */
const HEADER = /(?:^|-)(?=eyJ[\w-]{8})/;
const PAYLOAD_AND_SIGNATURE = /\.[\w-]+\.[\w-]*/y;

/** Masks JWTs, in linear time: each word is looked at as the first of three, and as one of the two behind. */
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

/** Tells whether a key's value is a secret by the key's name. */
export function looksLikeSecretName(key: string): boolean {
  return SECRET_KEY.test(key);
}

/** Removes secrets from a text. */
export type Redactor = (text: string) => string;

/**
 * A redactor that knows the values of this environment's secrets beside their general forms.
 * `others` are secret values from elsewhere, such as a token that stands in the config file itself.
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

/** `{"env": "NAME"}` tells a name only; anything else under `env` may be a secret that was put there. */
function isReference(entries: [string, unknown][], redact: Redactor): boolean {
  const [[key, name] = []] = entries;
  const isName = typeof name === "string" && /^[A-Z][A-Z0-9_]*$/.test(name) && redact(name) === name;
  return entries.length === 1 && key === "env" && isName;
}

/** Keys below which every text is taken for a secret: what an MCP server gets, by whatever name. */
const OPAQUE_KEYS = new Set(["headers", "env"]);
/** An argument such as `--api-key` or `--api-key=…`. */
const SECRET_FLAG = /^--?[\w-]{0,64}(?:token|secret|password|key|credential|auth)[\w-]{0,64}(=|$)/i;
const URL_FORM = /^(?:https?|wss?):\/\//i;
const USER_OF_URL = /^([a-z]+:\/\/)[^/?#@]*@/i;
const QUERY_VALUE = /([?&][^=?&#]*=)[^?&#]+/g;

/**
 * A copy of a JSON value in which every secret is masked: whatever is under a key that names a secret, what an MCP
 * server gets as headers, variables and secret arguments, the values in an address's query, and any string that looks
 * like a secret. `{"env": "NAME"}` stays, since it tells only a name.
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

/** Tells whether a string of a config holds a secret by its form: in an address, or as an argument behind `before`. */
export function looksLikeSecret(text: string, before?: string): boolean {
  return redactText(text, (same) => same) !== text || redactArgument(text, before) !== text;
}

/** An argument is a secret behind a flag that names one. */
function redactArgument(argument: unknown, before: unknown): unknown {
  if (typeof argument !== "string") return argument;
  const [flag, separator] = SECRET_FLAG.exec(argument) ?? [];
  if (flag !== undefined) return separator === "=" ? `${flag}${MASK}` : argument;
  return typeof before === "string" && SECRET_FLAG.exec(before)?.[1] === "" ? MASK : argument;
}
