import * as pulumi from "@pulumi/pulumi";
import { StewardError } from "../../runtime/contract/errors.ts";
import { nearest } from "../../runtime/contract/nearest.ts";
import { type ArgsOf, defaultsOf, type Target } from "./args.ts";
import { runError } from "./gate.ts";
import { LATER, type ArgumentProblem, type Values, type Wording } from "./problem.ts";
import { PROPERTIES, REQUIRED } from "./properties.ts";
import { RULES } from "./rules.ts";

const ARGUMENTS: Wording = {
  name: (path) => path,
  set: (path, value) => (value === undefined ? `set ${path}` : `set ${path} to ${value}`),
  remove: (path, member) => `leave out ${member === undefined ? path : `${path}.${member}`}`,
  quote: (remedy) => remedy,
};

/**
 * Returns all problems with a component's arguments, except unknown arguments. No returned string contains a secret's
 * value.
 *
 * @param given values by path; see {@link valuesOf}
 */
export function findArgumentProblems(
  target: Target,
  given: Values,
  words: Wording = ARGUMENTS,
): ArgumentProblem[] {
  const properties = PROPERTIES[target];
  const required = REQUIRED[target].filter((path) => given[path] === undefined);
  const parsed = Object.entries(given).flatMap(([path, value]) => {
    const schema = properties[path];
    if (value === undefined || schema === undefined) return [];
    return [{ path, value, issues: value === LATER ? [] : (schema.safeParse(value).error?.issues ?? []) }];
  });
  const wrong = [
    ...required.map((path) => ({ path, reason: "missing", fix: words.set(path) })),
    ...parsed.flatMap(({ path, issues }) =>
      issues.map(({ path: member, message, ...issue }): ArgumentProblem => {
        const right = "params" in issue ? issue.params?.["value"] : undefined;
        const fix = words.set(path, typeof right === "string" ? right : undefined);
        return { path, reason: message, fix, ...(member.length > 0 && { member: member.join(".") }) };
      }),
    ),
  ];
  const valid: Values = Object.fromEntries(
    parsed.filter(({ issues }) => issues.length === 0).map(({ path, value }) => [path, value]),
  );
  const values: Values = { ...defaultsOf(target, valid), ...valid };
  const between = RULES[target]
    .flatMap((rule) => rule(values, words))
    // Do not also report an invalid value as missing.
    .filter(({ path }) => !wrong.some((problem) => problem.path === path));
  return [...wrong, ...between];
}

/**
 * Returns the arguments' values by path, such as `slack.botToken`. Includes undeclared and malformed arguments
 * unchanged.
 */
function valuesOf(target: Target, args: object): Values {
  const groups = new Set(Object.keys(PROPERTIES[target]).map((path) => path.split(".")[0]));
  const entries = Object.entries(args).flatMap(([name, value]): [string, unknown][] => {
    const isGroup = groups.has(name) && !Object.hasOwn(PROPERTIES[target], name);
    if (!isGroup || typeof value !== "object" || value === null || Array.isArray(value) || isLater(value))
      return [[name, value]];
    return Object.entries(value).map(([member, one]) => [`${name}.${member}`, one]);
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** Reports unknown arguments, and arguments that should be objects but are not. Does not print their values. */
function unknownArguments(target: Target, given: Values): ArgumentProblem[] {
  const paths = Object.keys(PROPERTIES[target]);
  const unknown = Object.keys(given).filter((path) => !paths.includes(path));
  return unknown.map((path) => {
    if (paths.some((one) => one.startsWith(`${path}.`))) {
      return {
        path,
        reason: "must be an object; only its members may be outputs",
        fix: ARGUMENTS.set(path),
      };
    }
    const meant = nearest(
      path,
      paths.filter((one) => given[one] === undefined),
    );
    const guess = meant === undefined ? "" : `; did you mean ${meant}?`;
    return { path, reason: `unknown argument${guess}`, fix: ARGUMENTS.remove(path) };
  });
}

/**
 * Checks a component's arguments and reports all problems together.
 *
 * @returns a promise that rejects if a value that resolves later is invalid
 * @throws RunError if a value that is known now is invalid
 */
export function checkArgs<Of extends Target>(target: Of, name: string, args: ArgsOf[Of]): Promise<void> {
  const given = valuesOf(target, args);
  const check = (values: Values): void => {
    const problems = [...findArgumentProblems(target, values), ...unknownArguments(target, values)];
    if (problems.length > 0) throw invalid(name, problems);
  };
  const known = (values: Values): Values =>
    Object.fromEntries(Object.entries(values).map(([path, value]) => [path, knownNow(value)]));
  check(known(given));
  return resolved(given).then((values) => check(known(values as Values)));
}

function invalid(name: string, problems: readonly ArgumentProblem[]): pulumi.RunError {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const sorted = problems.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const lines = sorted.flatMap(({ path, member, reason, fix }) => [
    `  ${member === undefined ? path : `${path}.${member}`}: ${reason}`,
    `    fix: ${fix}`,
  ]);
  const text = [`Invalid arguments of ${name} (stack_config_invalid), ${count}:`, ...lines].join("\n");
  // Do not use InputPropertiesError, because Pulumi would print the values, even secrets.
  return runError(text, new StewardError("stack_config_invalid", text, { fix: "" }));
}

/**
 * Replaces values that are not known yet. An unknown argument becomes {@link LATER}; an unknown member of a record
 * becomes a placeholder that passes validation.
 */
function knownNow(value: unknown): unknown {
  if (isLater(value)) return LATER;
  if (Array.isArray(value)) return value.some(isLater) ? LATER : value;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, isLater(one) ? "-" : one]));
}

function isLater(value: unknown): boolean {
  return value === UNKNOWN_IN_PREVIEW || pulumi.Output.isInstance(value) || value instanceof Promise;
}

/**
 * Resolves outputs and promises, including nested ones. Uses {@link UNKNOWN_IN_PREVIEW} for values that a preview
 * cannot know.
 */
async function resolved(value: unknown): Promise<unknown> {
  if (isLater(value)) return whenKnown(value as pulumi.Input<unknown>);
  if (Array.isArray(value)) return Promise.all(value.map(resolved));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(async ([name, one]) => [name, await resolved(one)] as const);
  return Object.fromEntries(await Promise.all(members));
}

export const UNKNOWN_IN_PREVIEW = Symbol("unknown in a preview");

/**
 * Resolves an input to its value, or to {@link UNKNOWN_IN_PREVIEW}. Unlike `apply`, never marks the result as secret.
 */
export async function whenKnown<T>(
  input: pulumi.Input<T>,
): Promise<pulumi.Unwrap<T> | typeof UNKNOWN_IN_PREVIEW> {
  // Pulumi implements these members but omits them from its types.
  const output = pulumi.output(input) as unknown as {
    isKnown: Promise<boolean>;
    promise(withUnknowns?: boolean): Promise<pulumi.Unwrap<T>>;
  };
  return (await output.isKnown) ? output.promise() : UNKNOWN_IN_PREVIEW;
}
