import "../contract/english.ts";
import * as z from "zod/mini";
import { StewardError } from "../contract/errors.ts";
import { AGENT } from "../contract/names.ts";
import { nearest } from "../contract/nearest.ts";
import type { Entrance, Operation } from "./operation.ts";

/** An argument or option, as typed on the command line. */
export interface Field {
  name: string;
  help: string;
  isArgument: boolean;
  isNeeded: boolean;
  /** An option without a value. */
  isFlag: boolean;
  choices: readonly string[] | undefined;
  /** Notation in help, such as `--to <platform:chat>`. */
  form: string;
}

/** The parts of a zod definition that determine how a value is written on the command line. */
interface Definition {
  innerType?: z.core.$ZodType & { _zod: { def: Definition } };
  entries?: Record<string, string>;
  type: string;
}

/** Lists the fields of an operation's input: arguments in their order, then options. */
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

export function optionNames(operation: Operation): string[] {
  const own = inputFields(operation).filter(({ isArgument }) => !isArgument);
  return [...own.map(({ name }) => `--${name}`), "--json"];
}

export function synopsis(operation: Operation, entrance: Entrance): string {
  const fields = inputFields(operation).filter(
    ({ name }) => entrance === "terminal" || !operation.terminalOnly?.includes(name),
  );
  const parts = fields.map(({ form, isArgument, isNeeded }) => (isArgument || isNeeded ? form : `[${form}]`));
  return [operation.name, ...parts].join(" ");
}

/**
 * Validates an operation's input.
 *
 * @throws StewardError `usage_invalid`, which lists every problem and the usage.
 */
export function readInput(operation: Operation, given: unknown): object {
  const parsed = operation.input().safeParse(given);
  if (parsed.success) return parsed.data;
  throw inputError(
    operation,
    parsed.error.issues.flatMap((issue) => problemsOf(operation, given, issue)).join("; "),
  );
}

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
  const what = isArgument ? `argument '${form.slice(1, -1)}'` : `option '--${name}'`;
  if (!Object.hasOwn(Object(given), name))
    return [`missing required ${isArgument ? what : `option '${form}'`}`];
  if (choices === undefined) return [`${what}: ${issue.message}`];
  const value: unknown = Object(given)[name];
  // `String(value)` would throw for an object without a prototype.
  const told = typeof value === "string" ? value : JSON.stringify(value);
  return [`value '${told}' is invalid for ${what}. Allowed choices are ${choices.join(", ")}.`];
}

/** Suggests the most similar known word. */
export function unknownWord(kind: "command" | "option", word: string, known: readonly string[]): string {
  const meant = nearest(word, known);
  return `unknown ${kind} '${word}'${meant === undefined ? "" : `. Did you mean ${meant}?`}`;
}
