import type * as z from "zod";
import { hostChecks, serverlessChecks, type Values } from "./checks.ts";
import { nearest } from "../../runtime/contract/nearest.ts";
import { either, inOrder, type ConfigProblem } from "./problems.ts";
import { isSecretKey, SCHEMAS, type Target } from "./schema.ts";
import type { OperatorCommands } from "../../runtime/contract/operator-commands.ts";
import type { ConfigSource } from "./source.ts";

const NAMESPACE = "steward:";
const API_TOKEN = "cloudflare:apiToken";
/** https://developers.cloudflare.com/fundamentals/api/get-started/create-token/ */
const API_TOKEN_FORM = /^[0-9A-Za-z_-]{40,80}$/;
/** Keys of either target. */
const ALL_KEYS = [...new Set(Object.values(SCHEMAS).flatMap(({ shape }) => Object.keys(shape)))];
const CHECKS = { serverless: serverlessChecks, host: hostChecks } as const;

/** Returns the values of `steward:*` by key, without the namespace. */
export function stewardValues({ values }: ConfigSource): Record<string, string> {
  const own = Object.entries(values).filter(([key]) => key.startsWith(NAMESPACE));
  return Object.fromEntries(own.map(([key, value]) => [key.slice(NAMESPACE.length), value]));
}

/** Returns the target that the configuration names; `undefined` if it names none. */
export function targetOf(given: Readonly<Record<string, string>>): Target | undefined {
  const { target } = given;
  return target === "serverless" || target === "host" ? target : undefined;
}

/** Returns everything that is wrong with a stack's configuration, in the order of its keys. */
export function findProblems(source: ConfigSource): ConfigProblem[] {
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
  { commands }: ConfigSource,
): ConfigProblem[] {
  const shape: Readonly<Record<string, z.ZodType>> = SCHEMAS[target].shape;
  const fields = Object.entries(shape).map(([key, schema]) => ({
    key,
    result: schema.safeParse(given[key]),
  }));
  const values: Values = Object.fromEntries(fields.map(({ key, result }) => [key, result.data]));
  const wrong = fields.flatMap(({ key, result }) =>
    (result.error?.issues ?? []).map((issue) => fieldProblem(key, given[key], issue, commands)),
  );
  const known = Object.keys(given).filter((key) => Object.hasOwn(shape, key));
  const unknown = Object.keys(given).filter((key) => !Object.hasOwn(shape, key));
  const between = CHECKS[target]
    .flatMap((check) => check(values, commands))
    // An invalid value is reported as invalid, not also as missing.
    .filter(({ key }) => !wrong.some((problem) => problem.key === key));
  const allowed = Object.keys(shape).filter((key) => !known.includes(key));
  const foreign = unknown.map((key) => unknownKey(key, { target, allowed, commands }));
  return [...wrong, ...foreign, ...between];
}

function fieldProblem(
  key: string,
  value: string | undefined,
  issue: z.core.$ZodIssue,
  { configSet }: OperatorCommands,
): ConfigProblem {
  const path = issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  const right = issue.code === "custom" ? issue.params?.["value"] : undefined;
  return {
    key: NAMESPACE + key,
    problem: value === undefined ? "missing" : path + issue.message,
    fix: configSet(NAMESPACE + key, typeof right === "string" ? right : "<value>", {
      secret: isSecretKey(key),
    }),
  };
}

/** A stack's target, the keys that it does not set yet, and the commands that change the configuration. */
interface Allowed {
  target: Target;
  allowed: readonly string[];
  commands: OperatorCommands;
}

function unknownKey(key: string, { target, allowed, commands }: Allowed): ConfigProblem {
  const remove = commands.configRemove(NAMESPACE + key);
  const other = target === "host" ? "serverless" : "host";
  if (Object.hasOwn(SCHEMAS[other].shape, key)) {
    const problem = `belongs to a ${other} stack, and steward:target is ${target}`;
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
 * Returns the commands that move a value to the key that was meant. The value is not shown, since it may be a secret.
 */
function moveCommands(key: string, meant: string, commands: OperatorCommands): string {
  const set = commands.configSet(NAMESPACE + meant, "<value>", { secret: isSecretKey(meant) });
  return inOrder(commands.configRemove(key), set);
}

/** Reports keys with a misspelled namespace: Pulumi accepts any namespace, but no program reads these keys. */
function nearNamespaces({ values, commands }: ConfigSource): ConfigProblem[] {
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
        problem: `is not read: the namespace is steward, not ${namespace}`,
        fix: own === undefined ? commands.configRemove(key) : moveCommands(key, own, commands),
      },
    ];
  });
}

function missingTarget(
  { target }: Readonly<Record<string, string>>,
  { commands: { configSet } }: ConfigSource,
): ConfigProblem {
  const key = `${NAMESPACE}target`;
  return {
    key,
    problem: target === undefined ? "missing" : "must be serverless or host",
    fix: either(configSet(key, "serverless"), configSet(key, "host")),
  };
}

function plainSecrets(given: Readonly<Record<string, string>>, source: ConfigSource): ConfigProblem[] {
  const plain = Object.keys(given).filter((key) => isSecretKey(key) && !source.isSecret(NAMESPACE + key));
  return plain.map((key) => storedPlain(NAMESPACE + key, source));
}

/** Reports encrypted values of keys that hold no secrets: they would be deployed as plain text. */
function hiddenPlain(given: Readonly<Record<string, string>>, source: ConfigSource): ConfigProblem[] {
  const hidden = Object.keys(given).filter((key) => !isSecretKey(key) && source.isSecret(NAMESPACE + key));
  return hidden.map((key) => ({
    key: NAMESPACE + key,
    problem: "is stored as a secret, and would be deployed as plain text",
    fix: `\`${source.commands.configSet(NAMESPACE + key, "<value>")}\`; no secret belongs there`,
  }));
}

function storedPlain(key: string, { commands }: ConfigSource): ConfigProblem {
  return {
    key,
    problem: "is a secret but stored in plain",
    fix: `\`${commands.configSet(key, "<value>", { secret: true })}\`, and replace the value where it was issued`,
  };
}

function apiToken(source: ConfigSource): ConfigProblem[] {
  const { values, isSecret, environment, commands } = source;
  const fix = commands.configSet(API_TOKEN, "<token>", { secret: true });
  const configured = values[API_TOKEN];
  const token = configured ?? environment["CLOUDFLARE_API_TOKEN"];
  if (!token) return [{ key: API_TOKEN, problem: "missing, and CLOUDFLARE_API_TOKEN is not set", fix }];
  if (!API_TOKEN_FORM.test(token)) {
    return [{ key: API_TOKEN, problem: "is not an API token (40 to 80 letters, digits, _ and -)", fix }];
  }
  return configured !== undefined && !isSecret(API_TOKEN) ? [storedPlain(API_TOKEN, source)] : [];
}
