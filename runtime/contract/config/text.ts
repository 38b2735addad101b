import { checkConfig, type ConfigProblem, type ConfigResult } from "./index.ts";
import { withCredentials } from "./credentials.ts";
import { jsonProblem, repeatedKeys } from "./json-text.ts";
import { isReference, misplacedKey, references } from "./references.ts";
import type { Secret } from "./values.ts";
import { gatewayVariables, type Environment } from "../variables.ts";

/** Result of reading a config file's text. `value` is the parsed JSON, or `null` if the text is not JSON. */
export interface ConfigReading {
  value: unknown;
  result: ConfigResult;
}

/**
 * Validates a config file's text against the schema and the environment. The result also configures channels that the
 * file lacks, if the environment has their credentials.
 */
export function readConfigText(text: string, environment: Environment): ConfigReading {
  const unreadable = jsonProblem(text);
  if (unreadable !== undefined) return { value: null, result: { ok: false, problems: [unreadable] } };
  const value: unknown = JSON.parse(text);
  const whole = withCredentials(value, environment);
  const checked = checkConfig(whole);
  const named = checked.ok ? checked.config : whole;
  const problems = [
    ...repeatedKeys(text),
    ...(checked.ok ? [] : checked.problems),
    ...missingVariables(named, environment),
    ...misplacedKeys(named, environment),
  ];
  if (checked.ok && problems.length === 0) return { value, result: checked };
  return { value, result: { ok: false, problems } };
}

function missingVariables(value: unknown, environment: Environment): ConfigProblem[] {
  const missing = references(value).filter(({ name }) => !environment[name]);
  return missing.map(({ path, name }) => ({
    path,
    message: `Environment variable ${name} is not set${known(environment)}`,
  }));
}

function misplacedKeys(value: unknown, environment: Environment): ConfigProblem[] {
  return references(value).flatMap((reference) => {
    const message = misplacedKey(reference, environment);
    return message === undefined ? [] : [{ path: reference.path, message }];
  });
}

/** Lists the variables that a reference may name, to help correct a mistyped name. */
function known(environment: Environment): string {
  const names = Object.keys(gatewayVariables(environment)).filter((name) => !name.startsWith("STEWARD_"));
  const set = names.length === 0 ? "none is" : `set: ${names.sort().join(", ")}`;
  return ` (${set}; steward:secrets and steward:variables add others)`;
}

/** Returns a secret's value; empty if its variable is not set. */
export function resolveSecret(secret: Secret, environment: Environment): string {
  return typeof secret === "string" ? secret : (environment[secret.env] ?? "");
}

/** Config keys whose values are secrets, in addition to all `headers` and `env` values of MCP servers. */
const SECRET_KEYS = new Set(["botToken", "signingSecret", "webhookSecret", "token", "apiKey"]);

/** Returns every secret of a config with its dotted path. The config need not be valid. */
export function secretsOf(value: unknown, path: string[] = []): { path: string; secret: Secret }[] {
  const [section, kind, , group, name] = path;
  const inServer = section === "tools" && kind === "mcp" && name !== undefined;
  const isSecret =
    SECRET_KEYS.has(path.at(-1) ?? "") || (inServer && (group === "env" || group === "headers"));
  if (isSecret && (typeof value === "string" || isReference(value))) {
    return [{ path: path.join("."), secret: value }];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => secretsOf(item, [...path, key]));
}

export function secretValues(config: unknown, environment: Environment): string[] {
  return secretsOf(config).map(({ secret }) => resolveSecret(secret, environment));
}

/** Returns the values of all secrets in a config's text; none if the text is not JSON. */
export function secretValuesIn(text: string, environment: Environment): string[] {
  try {
    return secretValues(JSON.parse(text), environment);
  } catch {
    return [];
  }
}
