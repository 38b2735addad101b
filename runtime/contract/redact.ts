import {
  CONTROL_TOKEN_VARIABLE,
  ownNames,
  VARIABLES,
  type Environment,
  type VariableName,
} from "./variables.ts";

/** What stands in a secret's place. */
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

/** In a JSON text, a string under a key that names a secret, also where the text breaks off or is not valid. */
const NAMED_SECRET =
  /("[^"\\\n]{0,64}?(?:token|secret|password|apikey|api_key|authorization|cookie|credential)[^"\\\n]{0,64}"\s{0,8}:\s{0,8})"(?:[^"\\\n]|\\.)*"?/gi;

/** Whether a key's value is a secret by the key's name. */
export function namesSecret(key: string): boolean {
  return SECRET_KEY.test(key);
}

/** Removes secrets from a text. */
export type Redactor = (text: string) => string;

/**
 * A redactor that knows the values of this environment's secrets beside their general forms.
 * `others` are secret values from elsewhere, such as a token that stands in the config file itself.
 */
export function createRedactor(environment: Environment, others: readonly string[] = []): Redactor {
  const names = (Object.keys(VARIABLES) as VariableName[]).filter((name) => VARIABLES[name].secret);
  const own = ownNames(environment, { secretOnly: true });
  const values = [...[...names, ...own, CONTROL_TOKEN_VARIABLE].map((name) => environment[name]), ...others]
    .filter((value): value is string => value !== undefined && value.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    const known = values.reduce((rest, value) => rest.replaceAll(value, MASK), text);
    return SECRET_FORMS.reduce((rest, form) => rest.replace(form, MASK), withoutJwts(known));
  };
}

/** Masks what a JSON text says under keys that name a secret. The text keeps its form; it need not be valid. */
export function redactJsonText(text: string): string {
  return text.replace(NAMED_SECRET, `$1"${MASK}"`);
}

/** `{"env": "NAME"}` tells a name only; anything else under `env` may be a secret that was put there. */
function isReference(entries: [string, unknown][], redact: Redactor): boolean {
  const [[key, name] = []] = entries;
  const isName = typeof name === "string" && /^[A-Z][A-Z0-9_]*$/.test(name) && redact(name) === name;
  return entries.length === 1 && key === "env" && isName;
}

/**
 * A copy of a JSON value in which every secret is masked: whatever is under a key that names a secret,
 * and any string that looks like one. `{"env": "NAME"}` stays, since it tells only a name.
 */
export function redactValue(value: unknown, redact: Redactor, key = ""): unknown {
  if (typeof value === "string") return SECRET_KEY.test(key) ? MASK : redact(value);
  if (Array.isArray(value)) return value.map((item) => redactValue(item, redact, key));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  if (isReference(entries, redact)) return value;
  return Object.fromEntries(
    entries.map(([name, item]) => [name, redactValue(item, redact, SECRET_KEY.test(key) ? key : name)]),
  );
}
