import "../contract/english.ts";
import * as z from "zod/mini";
import { StewardError } from "../contract/errors.ts";
import { AGENT } from "../contract/names.ts";
import { nearest } from "../contract/nearest.ts";
import type { Entrance, Operation } from "./operation.ts";

/** One value of an operation's input, as words give it. */
export interface Field {
  name: string;
  help: string;
  isArgument: boolean;
  isNeeded: boolean;
  /** An option without a value. */
  isFlag: boolean;
  choices: readonly string[] | undefined;
  /** As help and forms show it, such as `--to <platform:chat>`. */
  form: string;
}

/** Parts of a schema that tell how words give a value. */
interface Definition {
  innerType?: z.core.$ZodType & { _zod: { def: Definition } };
  entries?: Record<string, string>;
  type: string;
}

/** Returns an operation's input as fields: the arguments in their order, and the options. */
export function inputFields(operation: Operation): Field[] {
  const fields = Object.entries(operation.input()._zod.def.shape).map(([name, outer]): Field => {
    let definition = outer._zod.def as Definition;
    const known = [z.globalRegistry.get(outer)];
    const isNeeded = definition.innerType === undefined;
    while (definition.innerType !== undefined) {
      known.unshift(z.globalRegistry.get(definition.innerType));
      definition = definition.innerType._zod.def;
    }
    const { description: help = "", title = name, option } = Object.assign({}, ...known) as z.core.GlobalMeta;
    const isArgument = option !== true;
    const isFlag = definition.type === "boolean";
    const value = isNeeded ? `<${title}>` : `[${title}]`;
    const form = isArgument ? value : isFlag ? `--${name}` : `--${name} <${title}>`;
    const choices = definition.entries && Object.values(definition.entries);
    return { name, help, isArgument, isNeeded, isFlag, choices, form };
  });
  return [
    ...fields.filter(({ isArgument }) => isArgument),
    ...fields.filter(({ isArgument }) => !isArgument),
  ];
}

/** Returns the names of an operation's options, with their dashes. */
export function optionNames(operation: Operation): string[] {
  const own = inputFields(operation).filter(({ isArgument }) => !isArgument);
  return [...own.map(({ name }) => `--${name}`), "--json"];
}

/** Returns an operation's name with everything that it takes at an entrance. */
export function synopsis(operation: Operation, entrance: Entrance): string {
  const fields = inputFields(operation).filter(
    ({ name }) => entrance === "terminal" || !operation.terminalOnly?.includes(name),
  );
  const parts = fields.map(({ form, isArgument, isNeeded }) => (isArgument || isNeeded ? form : `[${form}]`));
  return [operation.name, ...parts].join(" ");
}

/**
 * Checks an operation's input, wherever it comes from.
 *
 * @throws StewardError `usage_invalid` with every problem, the form and the summary.
 */
export function readInput(operation: Operation, given: unknown): object {
  const parsed = operation.input().safeParse(given);
  if (parsed.success) return parsed.data;
  throw inputError(
    operation,
    parsed.error.issues.flatMap((issue) => problemsOf(operation, given, issue)).join("; "),
  );
}

/** Returns the error for a line or an input that does not fit an operation. */
export function inputError(operation: Operation, problem: string): StewardError {
  const form = operation.rights.includes("terminal")
    ? `${AGENT} ${synopsis(operation, "terminal")}`
    : synopsis(operation, "console");
  return new StewardError("usage_invalid", `${problem}\nUsage: ${form}\n${operation.summary}`);
}

function problemsOf(operation: Operation, given: unknown, issue: z.core.$ZodIssue): string[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((name) => unknownWord("option", `--${name}`, optionNames(operation)));
  const field = inputFields(operation).find(({ name }) => name === issue.path[0]);
  if (field === undefined) return [issue.message];
  const { name, isArgument, choices, form } = field;
  // As the form names it, without its brackets.
  const what = isArgument ? `argument '${form.slice(1, -1)}'` : `option '--${name}'`;
  if (!Object.hasOwn(Object(given), name))
    return [`missing required ${isArgument ? what : `option '${form}'`}`];
  if (choices === undefined) return [`${what}: ${issue.message}`];
  const value: unknown = Object(given)[name];
  // Not every object has a text of its own.
  const told = typeof value === "string" ? value : JSON.stringify(value);
  return [`value '${told}' is invalid for ${what}. Allowed choices are ${choices.join(", ")}.`];
}

/** Returns the sentence on a word that is unknown, with the one that it most likely means. */
export function unknownWord(kind: "command" | "option", word: string, known: readonly string[]): string {
  const meant = nearest(word, known);
  return `unknown ${kind} '${word}'${meant === undefined ? "" : `. Did you mean ${meant}?`}`;
}
