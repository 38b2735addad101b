import type * as z from "zod";
import { hostChecks, serverlessChecks, type Values } from "./checks.ts";
import { nearest, type ConfigProblem } from "./problems.ts";
import { isSecretKey, SCHEMAS, type Target } from "./schema.ts";
import type { ConfigSource } from "./source.ts";

const NAMESPACE = "steward:";
const API_TOKEN = "cloudflare:apiToken";
/** https://developers.cloudflare.com/fundamentals/api/get-started/create-token/ */
const API_TOKEN_FORM = /^[0-9A-Za-z_-]{40,80}$/;
const CHECKS = { serverless: serverlessChecks, host: hostChecks } as const;

/** The values of `steward:*`, by the key without its namespace. */
export function stewardValues({ values }: ConfigSource): Record<string, string> {
  const own = Object.entries(values).filter(([key]) => key.startsWith(NAMESPACE));
  return Object.fromEntries(own.map(([key, value]) => [key.slice(NAMESPACE.length), value]));
}

/** The target that the configuration names; `undefined` where it names none. */
export function targetOf(given: Readonly<Record<string, string>>): Target | undefined {
  const { target } = given;
  return target === "serverless" || target === "host" ? target : undefined;
}

/** Everything that is wrong with a stack's configuration, in the order of its keys. */
export function findProblems(source: ConfigSource): ConfigProblem[] {
  const given = stewardValues(source);
  const target = targetOf(given);
  const problems = [
    ...plainSecrets(given, source),
    ...hiddenPlain(given, source),
    ...(target === undefined ? [missingTarget(given)] : targetProblems(target, given)),
    ...(target === "serverless" ? apiToken(source) : []),
  ];
  return problems.sort((a, b) => (a.key < b.key ? -1 : 1));
}

function targetProblems(target: Target, given: Readonly<Record<string, string>>): ConfigProblem[] {
  const shape: Readonly<Record<string, z.ZodType>> = SCHEMAS[target].shape;
  const fields = Object.entries(shape).map(([key, schema]) => ({
    key,
    result: schema.safeParse(given[key]),
  }));
  const values: Values = Object.fromEntries(fields.map(({ key, result }) => [key, result.data]));
  const wrong = fields.flatMap(({ key, result }) =>
    (result.error?.issues ?? []).map((issue) => fieldProblem(key, given[key], issue)),
  );
  const known = Object.keys(given).filter((key) => Object.hasOwn(shape, key));
  const unknown = Object.keys(given).filter((key) => !Object.hasOwn(shape, key));
  const between = CHECKS[target]
    .flatMap((check) => check(values))
    // An invalid value is reported as such, not as missing too.
    .filter(({ key }) => !wrong.some((problem) => problem.key === key));
  return [...wrong, ...unknown.map((key) => unknownKey(key, target, Object.keys(shape), known)), ...between];
}

function fieldProblem(key: string, value: string | undefined, issue: z.core.$ZodIssue): ConfigProblem {
  const flag = isSecretKey(key) ? "--secret " : "";
  const path = issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  const right = issue.code === "custom" ? issue.params?.["value"] : undefined;
  return {
    key: NAMESPACE + key,
    problem: value === undefined ? "missing" : path + issue.message,
    fix: `pulumi config set ${flag}${NAMESPACE}${key} ${typeof right === "string" ? right : "<value>"}`,
  };
}

function unknownKey(
  key: string,
  target: Target,
  allowed: readonly string[],
  given: readonly string[],
): ConfigProblem {
  const fix = `pulumi config rm ${NAMESPACE}${key}`;
  const other = target === "host" ? "serverless" : "host";
  if (Object.hasOwn(SCHEMAS[other].shape, key)) {
    const problem = `belongs to a ${other} stack, and steward:target is ${target}`;
    return { key: NAMESPACE + key, problem, fix };
  }
  const meant = nearest(
    key,
    allowed.filter((candidate) => !given.includes(candidate)),
  );
  const hint = meant === undefined ? "" : `; did you mean ${NAMESPACE}${meant}?`;
  const rename = meant === undefined ? "" : `, then pulumi config set ${NAMESPACE}${meant} <value>`;
  return { key: NAMESPACE + key, problem: `unknown key${hint}`, fix: fix + rename };
}

function missingTarget({ target }: Readonly<Record<string, string>>): ConfigProblem {
  return {
    key: `${NAMESPACE}target`,
    problem: target === undefined ? "missing" : "must be serverless or host",
    fix: `pulumi config set ${NAMESPACE}target serverless, or host`,
  };
}

function plainSecrets(given: Readonly<Record<string, string>>, source: ConfigSource): ConfigProblem[] {
  const plain = Object.keys(given).filter((key) => isSecretKey(key) && !source.isSecret(NAMESPACE + key));
  return plain.map((key) => storedPlain(NAMESPACE + key));
}

/** Only the keys that hold secrets are carried as secrets; another one would come out as plain text. */
function hiddenPlain(given: Readonly<Record<string, string>>, source: ConfigSource): ConfigProblem[] {
  const hidden = Object.keys(given).filter((key) => !isSecretKey(key) && source.isSecret(NAMESPACE + key));
  return hidden.map((key) => ({
    key: NAMESPACE + key,
    problem: "is stored as a secret, and would be deployed as plain text",
    fix: `pulumi config set ${NAMESPACE}${key} <value> without --secret; no secret belongs there`,
  }));
}

function storedPlain(key: string): ConfigProblem {
  return {
    key,
    problem: "is a secret but stored in plain",
    fix: `pulumi config set --secret ${key} <value>, and replace the value where it was issued`,
  };
}

function apiToken({ values, isSecret, environment }: ConfigSource): ConfigProblem[] {
  const fix = `pulumi config set --secret ${API_TOKEN} <token>`;
  const configured = values[API_TOKEN];
  const token = configured ?? environment["CLOUDFLARE_API_TOKEN"];
  if (!token) return [{ key: API_TOKEN, problem: "missing, and CLOUDFLARE_API_TOKEN is not set", fix }];
  if (!API_TOKEN_FORM.test(token)) {
    return [{ key: API_TOKEN, problem: "is not an API token (40 to 80 letters, digits, _ and -)", fix }];
  }
  return configured !== undefined && !isSecret(API_TOKEN) ? [storedPlain(API_TOKEN)] : [];
}
