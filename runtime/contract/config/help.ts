import * as z from "zod/mini";
import type { ToldProblem } from "../control.ts";
import { deprecatedKey } from "./deprecated.ts";
import { type ConfigProblem, withMeant } from "./index.ts";
import { lineFinder } from "./json-text.ts";
import { keysAt, schemaAt } from "./schema-at.ts";

/**
 * Describes problems in words that may be shown, with their lines and what the schema says of their places.
 *
 * @param text text of the file
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

/** The message itself names the key to use, if the key is deprecated or near another one. */
function keysHelp({ path, meant }: ConfigProblem, unknownKey: string): string | undefined {
  const keys = keysAt(path);
  if (meant !== undefined) return undefined;
  if (deprecatedKey(path, unknownKey) !== undefined || keys.length === 0) return undefined;
  return `Keys here: ${keys.join(", ")}.`;
}

/** The description may stand on the schema itself or on what its default wraps. */
function describe(path: string): string | undefined {
  for (let schema = schemaAt(path); schema !== undefined; schema = schema.def.innerType) {
    const description = z.globalRegistry.get(schema)?.description;
    if (description !== undefined) return description;
  }
  return undefined;
}
