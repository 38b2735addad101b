import { checkConfig, type ConfigProblem, type ConfigResult } from "./config.ts";
import type { Environment } from "./environment.ts";

/** What a config file's text comes to. `value` is the parsed JSON, `null` where it is not JSON. */
export interface ConfigReading {
  value: unknown;
  result: ConfigResult;
}

/** Checks a config file's text against the schema and against the environment that it refers to. */
export function readConfigText(text: string, environment: Environment): ConfigReading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { value: null, result: { ok: false, problems: [{ path: "", message: parseProblem(error) }] } };
  }
  const checked = checkConfig(value);
  if (!checked.ok) return { value, result: checked };
  const problems = missingVariables(checked.config, environment);
  return { value, result: problems.length === 0 ? checked : { ok: false, problems } };
}

/** The parser's message without the piece of the text that it quotes: that piece may hold a secret. */
function parseProblem(error: unknown): string {
  const message = error instanceof Error ? error.message : "unreadable";
  return `Not valid JSON: ${message.replace(/, (?:\.\.\.)?".*$/s, "")}`;
}

/** References to variables that are not set. What is switched off is not looked at. */
function missingVariables(value: unknown, environment: Environment, path: string[] = []): ConfigProblem[] {
  if (typeof value !== "object" || value === null) return [];
  if ("enabled" in value && value.enabled === false) return [];
  if (isReference(value)) {
    if (environment[value.env]) return [];
    return [{ path: path.join("."), message: `Environment variable ${value.env} is not set` }];
  }
  return Object.entries(value).flatMap(([key, item]) => missingVariables(item, environment, [...path, key]));
}

/** A secret as the config file writes it. */
export type Secret = string | { env: string };

/** The value of a secret; empty where its variable is not set, which a checked config rules out. */
export function resolveSecret(secret: Secret, environment: Environment): string {
  return typeof secret === "string" ? secret : (environment[secret.env] ?? "");
}

/** Whether a value of a config is a reference to a variable. */
export function isReference(value: unknown): value is { env: string } {
  if (typeof value !== "object" || value === null) return false;
  return "env" in value && typeof value.env === "string" && Object.keys(value).length === 1;
}
