import * as z from "zod/mini";
import type { ToldProblem } from "../control.ts";
import { deprecatedKey } from "./deprecated.ts";
import { type ConfigProblem, withMeant } from "./index.ts";
import { keysAt, schemaAt } from "./schema-at.ts";

/** A problem in words that may be shown, with what the schema says of its place. */
export function tellProblem(problem: ConfigProblem, redact: (text: string) => string): ToldProblem {
  const { path, unknownKey } = problem;
  const message = withMeant(problem);
  const help = unknownKey === undefined ? describe(path) : keysHelp(path, unknownKey);
  return { path: redact(path), message: redact(message), ...(help !== undefined && { help }) };
}

/** For a key that is deprecated the message itself says what to use. */
function keysHelp(path: string, unknownKey: string): string | undefined {
  const keys = keysAt(path);
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
