import * as z from "zod/mini";
import type { ToldProblem } from "../control.ts";
import { deprecatedKey } from "./deprecated.ts";
import { type ConfigProblem, withMeant } from "./index.ts";
import { lineFinder } from "./json-text.ts";
import { keysAt, schemaAt } from "./schema-at.ts";

/**
 * Prepares a config's problems for display: redacts secrets, finds line numbers in `text` (the config file), and adds
 * help from the schema.
 */
export function describeProblems(
  problems: readonly ConfigProblem[],
  text: string,
  redact: (text: string) => string,
): ToldProblem[] {
  const lineAt = lineFinder(text);
  return problems.map((problem) => {
    const { path, unknownKey } = problem;
    const help = unknownKey === undefined ? describe(path) : keysHelp(problem, unknownKey);
    const place =
      unknownKey === undefined ? path : [path, unknownKey].filter((part) => part !== "").join(".");
    const line = problem.line ?? lineAt(place);
    return {
      path: redact(path),
      message: redact(withMeant(problem)),
      ...(line !== undefined && { line }),
      ...(help !== undefined && { help }),
    };
  });
}

/** Returns a list of the allowed keys, or `undefined` if none are known or the problem's message gives advice. */
function keysHelp({ path, meant }: ConfigProblem, unknownKey: string): string | undefined {
  const keys = keysAt(path);
  if (meant !== undefined) return undefined;
  if (deprecatedKey(path, unknownKey) !== undefined || keys.length === 0) return undefined;
  return `Keys here: ${keys.join(", ")}.`;
}

/**
 * Returns the description of the value at a path. Also searches the schemas inside `default` and `optional` wrappers.
 */
function describe(path: string): string | undefined {
  for (let schema = schemaAt(path); schema !== undefined; schema = schema.def.innerType) {
    const description = z.globalRegistry.get(schema)?.description;
    if (description !== undefined) return description;
  }
  return undefined;
}
