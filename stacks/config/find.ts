import type { Target } from "../../infra/gateway/args.ts";
import { findArgumentProblems } from "../../infra/gateway/check.ts";
import { PROPERTIES } from "../../infra/gateway/properties.ts";
import type { ArgumentProblem } from "../../infra/gateway/problem.ts";
import { nearest } from "../../runtime/contract/nearest.ts";
import type { OperatorCommands } from "../../runtime/contract/operator-commands.ts";
import { isSecretKey, keyWording, NAMESPACE, pathOf, TARGET_KEYS } from "./keys.ts";
import type { StackConfigSource } from "./source.ts";

const API_TOKEN = "cloudflare:apiToken";
const ALL_KEYS = [...new Set(Object.values(TARGET_KEYS).flat())];

interface ConfigProblem {
  /** Full key, for example `steward:sleepAfter`. */
  key: string;
  /** Never contains a secret. */
  problem: string;
  /** Command to type, or a sentence with commands in backticks. */
  fix: string;
}

/** Formats all problems as one string: a heading, then two lines per problem. */
export function formatProblems(problems: readonly ConfigProblem[]): string {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const lines = problems.flatMap(({ key, problem, fix }) => [`  ${key}: ${problem}`, `    fix: ${fix}`]);
  return [`Invalid stack configuration (stack_config_invalid), ${count}:`, ...lines].join("\n");
}

export function keyProblem(
  { path, member, reason, fix }: ArgumentProblem,
  { commands }: StackConfigSource,
): ConfigProblem {
  const problem = member === undefined ? reason : `${member}: ${reason}`;
  return { key: keyWording(commands).name(path), problem, fix };
}

export function stewardValues({ values }: StackConfigSource): Record<string, string> {
  const own = Object.entries(values).filter(([key]) => key.startsWith(NAMESPACE));
  return Object.fromEntries(own.map(([key, value]) => [key.slice(NAMESPACE.length), value]));
}

/** Returns `steward:target`, or `undefined` if it is missing or invalid. */
export function targetOf(given: Readonly<Record<string, string>>): Target | undefined {
  const { target } = given;
  return target === "serverless" || target === "host" ? target : undefined;
}

/** Returns a target's values by argument path, each converted to its argument's type. */
export function argumentValues(
  target: Target,
  given: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const known = Object.entries(given).filter(([key]) => TARGET_KEYS[target].includes(key));
  const entries = known.flatMap(([key, text]): [string, unknown][] => {
    const path = pathOf(key);
    const schema = PROPERTIES[target][path];
    return schema === undefined ? [] : [[path, readText(text, schema.type)]];
  });
  return Object.fromEntries(entries);
}

/** Parses lists and objects as JSON. Returns invalid text unchanged. */
function readText(text: string, kind: string): unknown {
  if (kind === "boolean") return text === "true" || (text === "false" ? false : text);
  if (kind === "number") return /^\d{1,9}(\.\d{1,2})?$/.test(text) ? Number(text) : text;
  if (!["array", "object", "record"].includes(kind)) return text;
  try {
    return withoutSnakeCase(JSON.parse(text));
  } catch {
    return text;
  }
}

/** Renames `new_sqlite_classes`, which Cloudflare's configuration files use, to `newSqliteClasses`. */
function withoutSnakeCase(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((entry: unknown) => {
    if (typeof entry !== "object" || entry === null || !("new_sqlite_classes" in entry)) return entry;
    const { new_sqlite_classes: newSqliteClasses, ...rest } = entry;
    return "newSqliteClasses" in rest ? entry : { ...rest, newSqliteClasses };
  });
}

/** Returns the problems, sorted by key. */
export function findConfigProblems(source: StackConfigSource): ConfigProblem[] {
  const given = stewardValues(source);
  const target = targetOf(given);
  const problems = [
    ...plainSecrets(given, source),
    ...hiddenPlain(given, source),
    ...(target === undefined ? [missingTarget(given, source)] : targetProblems(target, given, source)),
    ...(target === "serverless" ? apiToken(source) : []),
    ...nearNamespaces(source),
  ];
  return problems.sort((a, b) => (a.key < b.key ? -1 : 1));
}

function targetProblems(
  target: Target,
  given: Readonly<Record<string, string>>,
  source: StackConfigSource,
): ConfigProblem[] {
  const { commands } = source;
  const values = { ...(target === "serverless" && { workerName: WORKER }), ...argumentValues(target, given) };
  const wrong = findArgumentProblems(target, values, keyWording(commands)).map((one) =>
    keyProblem(one, source),
  );
  const keys = TARGET_KEYS[target];
  const unknown = Object.keys(given).filter((key) => !keys.includes(key));
  const allowed = keys.filter((key) => !Object.hasOwn(given, key));
  const foreign = unknown.map((key) => unknownKey(key, { target, allowed, commands }));
  return [...wrong, ...foreign, ...ownRules(target, given, commands)];
}

/** The Worker's default name. */
export const WORKER = "steward";

/** Checks keys that correspond to no argument, and keys with stricter rules than their argument. */
function ownRules(
  target: Target,
  { telegramUpdates, docker }: Readonly<Record<string, string>>,
  { configSet, configRemove }: OperatorCommands,
): ConfigProblem[] {
  const updates = `${NAMESPACE}telegramUpdates`;
  const engine = `${NAMESPACE}docker`;
  if (target === "host") {
    if (!docker?.startsWith("tcp:")) return [];
    return [
      { key: engine, problem: "must be a unix:// or ssh:// address", fix: configSet(engine, "<value>") },
    ];
  }
  if (telegramUpdates === undefined || telegramUpdates === "webhook") return [];
  if (telegramUpdates !== "polling") {
    return [{ key: updates, problem: "must be webhook or polling", fix: configSet(updates, "<value>") }];
  }
  return [
    {
      key: updates,
      problem: "polling needs a process that never sleeps, which a serverless stack does not have",
      fix: `\`${configRemove(updates)}\` (the stack sets the webhook), or deploy a host stack, which polls`,
    },
  ];
}

interface Allowed {
  target: Target;
  allowed: readonly string[];
  commands: OperatorCommands;
}

function unknownKey(key: string, { target, allowed, commands }: Allowed): ConfigProblem {
  const remove = commands.configRemove(NAMESPACE + key);
  const other = target === "host" ? "serverless" : "host";
  if (TARGET_KEYS[other].includes(key)) {
    const problem = `belongs to a ${other} stack, but steward:target is ${target}`;
    return { key: NAMESPACE + key, problem, fix: remove };
  }
  const meant = nearest(key, allowed);
  if (meant === undefined) return { key: NAMESPACE + key, problem: "unknown key", fix: remove };
  return {
    key: NAMESPACE + key,
    problem: `unknown key; did you mean ${NAMESPACE}${meant}?`,
    fix: moveCommands(NAMESPACE + key, meant, commands),
  };
}

/**
 * Returns the commands that move a value to another key. They contain a placeholder instead of the value, which may
 * be a secret.
 */
function moveCommands(key: string, meant: string, commands: OperatorCommands): string {
  const set = commands.configSet(NAMESPACE + meant, "<value>", { secret: isSecretKey(meant) });
  return `\`${commands.configRemove(key)}\`, then \`${set}\``;
}
/** Reports keys with a misspelled namespace. Pulumi accepts them, but no program reads them. */
function nearNamespaces({ values, commands }: StackConfigSource): ConfigProblem[] {
  return Object.keys(values).flatMap((key) => {
    const [namespace = "", ...rest] = key.split(":");
    const name = rest.join(":");
    if (`${namespace}:` === NAMESPACE || nearest(namespace.toLowerCase(), ["steward"]) === undefined)
      return [];
    const own =
      ALL_KEYS.find((known) => known.toLowerCase() === name.toLowerCase()) ?? nearest(name, ALL_KEYS);
    return [
      {
        key,
        problem: `is ignored: the namespace is steward, not ${namespace}`,
        fix: own === undefined ? commands.configRemove(key) : moveCommands(key, own, commands),
      },
    ];
  });
}

function missingTarget(
  { target }: Readonly<Record<string, string>>,
  { commands: { configSet } }: StackConfigSource,
): ConfigProblem {
  const key = `${NAMESPACE}target`;
  return {
    key,
    problem: target === undefined ? "missing" : "must be serverless or host",
    fix: `\`${configSet(key, "serverless")}\`, or \`${configSet(key, "host")}\``,
  };
}

function plainSecrets(given: Readonly<Record<string, string>>, source: StackConfigSource): ConfigProblem[] {
  const plain = Object.keys(given).filter((key) => isSecretKey(key) && !source.isSecret(NAMESPACE + key));
  return plain.map((key) => storedPlain(NAMESPACE + key, source));
}

/** Reports encrypted values of keys that are not secret, because they would be deployed as plain text. */
function hiddenPlain(given: Readonly<Record<string, string>>, source: StackConfigSource): ConfigProblem[] {
  const hidden = Object.keys(given).filter((key) => !isSecretKey(key) && source.isSecret(NAMESPACE + key));
  return hidden.map((key) => ({
    key: NAMESPACE + key,
    problem: "is stored as a secret, and would be deployed as plain text",
    fix: `\`${source.commands.configSet(NAMESPACE + key, "<value>")}\`; no secret belongs there`,
  }));
}

function storedPlain(key: string, { commands }: StackConfigSource): ConfigProblem {
  return {
    key,
    problem: "is a secret but stored as plain text",
    fix: `\`${commands.configSet(key, "<value>", { secret: true })}\`, and replace the value where it was issued`,
  };
}

function apiToken(source: StackConfigSource): ConfigProblem[] {
  const { values, isSecret, environment, commands } = source;
  const fix = commands.configSet(API_TOKEN, "<token>", { secret: true });
  const configured = values[API_TOKEN];
  const token = configured ?? environment["CLOUDFLARE_API_TOKEN"];
  if (!token) return [{ key: API_TOKEN, problem: "missing, and CLOUDFLARE_API_TOKEN is not set", fix }];
  if (!PROPERTIES.serverless["cloudflare.apiToken"]?.safeParse(token).success) {
    return [{ key: API_TOKEN, problem: "is not an API token (40 to 80 letters, digits, _ and -)", fix }];
  }
  return configured !== undefined && !isSecret(API_TOKEN) ? [storedPlain(API_TOKEN, source)] : [];
}
