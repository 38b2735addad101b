import { StewardError } from "../contract/errors.ts";
import { AGENT, VERSION } from "../contract/names.ts";
import { inputFields, synopsis, optionNames, readInput, unknownWord, inputError } from "./form.ts";
import type { Entrance, Operation } from "./operation.ts";
import {
  type Group,
  GROUPS,
  notAllowed,
  readConsoleInput,
  type Request,
  TERMINAL_GROUPS,
} from "./registry.ts";

const LONGEST_LINE = 1_024;
const HELP: ReadonlySet<string> = new Set(["--help", "-h"]);
/** A negative number is not an option. */
const OPTION = /^-\D/;

export interface Line extends Request {
  json: boolean;
}

/**
 * Splits a line at spaces outside single or double quotes. Escapes and expansions have no meaning.
 *
 * @throws StewardError `command_not_allowed` for a line that is too long, has an open quote or contains control
 * characters.
 */
export function splitWords(line: string): string[] {
  if (line.length > LONGEST_LINE) throw notAllowed(`The line is longer than ${LONGEST_LINE} characters.`);
  if (/\p{Cc}/u.test(line)) throw notAllowed("The line contains control characters.");
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (const character of line) {
    if (quote !== undefined && character === quote) quote = undefined;
    else if (quote === undefined && (character === '"' || character === "'")) {
      quote = character;
      // Empty quotes form an empty word.
      word ??= "";
    } else if (quote === undefined && character === " ") {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = `${word ?? ""}${character}`;
  }
  if (quote !== undefined) throw notAllowed(`The quote ${quote} is not closed.`);
  return word === undefined ? words : [...words, word];
}

/**
 * Parses a command.
 *
 * @returns the operation with its input, or the requested help.
 * @throws StewardError `usage_invalid` for an invalid command; `command_not_allowed` for one that the console does
 * not allow.
 */
export function readCommandLine(words: readonly string[], entrance: Entrance): Line | { help: string } {
  const found = findOperation(words);
  if (entrance === "console") {
    if (!("operation" in found) || !found.operation.rights.includes(entrance))
      throw notAllowed(undefined, words[0]);
    const { given, json, isHelp } = readGiven(found.operation, found.rest);
    if (isHelp) throw notAllowed(undefined, words[0]);
    return { operation: found.operation, input: readConsoleInput(found.operation, given), json };
  }
  if ("help" in found) return found;
  if ("problem" in found) throw new StewardError("usage_invalid", found.problem);
  const { operation, rest } = found;
  if (!operation.rights.includes(entrance))
    throw new StewardError("usage_invalid", `unknown command '${operation.name}'`);
  const { given, json, isHelp } = readGiven(operation, rest);
  return isHelp ? { help: helpOf(operation) } : { operation, input: readInput(operation, given), json };
}

function findOperation(
  words: readonly string[],
): { operation: Operation; rest: readonly string[] } | { help: string } | { problem: string } {
  const [first, second, ...rest] = words;
  if (first === undefined) return { problem: MISSING };
  if (first === "help") return findOperation([...words.slice(1), "--help"]);
  if (HELP.has(first)) return { help: programHelp() };
  if (first === "--version" || first === "-V") return { help: VERSION };
  const group = GROUPS.find(({ name }) => name === first);
  if (group === undefined) {
    const known = TERMINAL_GROUPS.map(({ name }) => name);
    return { problem: unknownWord(OPTION.test(first) ? "option" : "command", first, known) };
  }
  const { operations } = group;
  const alone = operations.find(({ name }) => name === first);
  if (alone !== undefined) return { operation: alone, rest: words.slice(1) };
  if (second === undefined) return { problem: MISSING };
  if (HELP.has(second)) return { help: groupHelp(group) };
  if (second === "help") return findOperation([first, ...rest, "--help"]);
  const operation = operations.find(({ name }) => name === `${first} ${second}`);
  if (operation !== undefined) return { operation, rest };
  const known = operations.map(({ name }) => name.slice(first.length + 1));
  return { problem: unknownWord(OPTION.test(second) ? "option" : "command", second, known) };
}

const MISSING = "A command is missing.";

/**
 * Assigns a command's words to the fields of its operation's input, without validating them. An unknown option becomes
 * a field, so that {@link readInput} reports it.
 */
function readGiven(
  operation: Operation,
  words: readonly string[],
): { given: Record<string, unknown>; json: boolean; isHelp: boolean } {
  const fields = inputFields(operation);
  const open = fields.filter(({ isArgument }) => isArgument);
  // Created without a prototype, so that names such as `__proto__` are ordinary keys.
  const given: Record<string, unknown> = Object.create(null);
  const surplus: string[] = [];
  let json = false;
  let isHelp = false;
  let isUnknown = false;
  let end = words.indexOf("--");
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (at === end) continue;
    if ((end !== -1 && at > end) || !OPTION.test(word)) {
      const field = open.shift();
      if (field === undefined) surplus.push(word);
      else given[field.name] = word;
    } else if (word === "--json") json = true;
    else if (HELP.has(word)) isHelp = true;
    else {
      const [, name = "", inline] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
      const field = fields.find((one) => one.name === name);
      if (name === "" || field?.isArgument)
        throw inputError(operation, unknownWord("option", word, optionNames(operation)));
      if (field === undefined) {
        given[name] = true;
        isUnknown = true;
      } else if (field.isFlag) {
        if (inline !== undefined) throw inputError(operation, `option '${field.form}' takes no value`);
        given[name] = true;
      } else {
        if (inline === undefined) at += 1;
        // If the option's value is itself `--`, only a later `--` ends the options.
        if (at === end) end = words.indexOf("--", at + 1);
        const value = inline ?? words[at];
        if (value === undefined) throw inputError(operation, `option '${field.form}' needs a value`);
        given[name] = value;
      }
    }
  }
  if (surplus.length > 0 && !isUnknown && !isHelp)
    throw inputError(operation, `too many arguments: '${surplus.join("', '")}'`);
  return { given, json, isHelp };
}

function programHelp(): string {
  return [
    `Usage: ${AGENT} <command>`,
    "Manages a steward gateway, whether it is up or down.",
    listed("Options:", [
      ["-V, --version", "print the version"],
      ["-h, --help", "print this help, or the help of a command"],
    ]),
    listed(
      "Commands:",
      TERMINAL_GROUPS.map(({ name, summary }) => [name, summary]),
    ),
  ].join("\n\n");
}

function groupHelp({ name, summary, operations }: Group): string {
  const rows = operations.map(
    (one) => [synopsis(one, "terminal").slice(name.length + 1), one.summary] as const,
  );
  return [`Usage: ${AGENT} ${name} <command>`, summary, listed("Commands:", rows)].join("\n\n");
}

function helpOf(operation: Operation): string {
  const fields = inputFields(operation);
  const rows = (isArgument: boolean) =>
    fields
      .filter((field) => field.isArgument === isArgument)
      .map(({ form, help, choices }) => {
        return [form, choices === undefined ? help : `${help}: ${choices.join(", ")}`] as const;
      });
  const json = ["--json", "as JSON"] as const;
  return [
    `Usage: ${AGENT} ${synopsis(operation, "terminal")}`,
    operation.summary,
    ...(rows(true).length > 0 ? [listed("Arguments:", rows(true))] : []),
    listed("Options:", [...rows(false), json]),
  ].join("\n\n");
}

function listed(title: string, rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return [title, ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)].join("\n");
}
