import type * as z from "zod";
import type { ToldProblem } from "../control.ts";
import type { Redactor } from "../redact.ts";
import { deprecatedKey } from "./deprecated.ts";
import type { ConfigProblem } from "./index.ts";
import { configSchema } from "./schema.ts";

/** A problem in words that may be shown, with what the schema says of its place. */
export function tellProblem(problem: ConfigProblem, redact: Redactor): ToldProblem {
  const { path, message, unknownKey } = problem;
  const help = unknownKey === undefined ? describe(path) : keysAt(path, unknownKey);
  return { path: redact(path), message: redact(message), ...(help !== undefined && { help }) };
}

/** For a key that is deprecated the message itself says what to use. */
function keysAt(path: string, unknownKey: string): string | undefined {
  if (deprecatedKey(path, unknownKey) !== undefined) return undefined;
  const { def } = inner(schemaAt(path)) ?? {};
  return def?.type === "object" ? `Keys here: ${Object.keys(def.shape ?? {}).join(", ")}.` : undefined;
}

/** The description may stand on the schema itself or on what its default wraps. */
function describe(path: string): string | undefined {
  let schema = schemaAt(path);
  while (schema !== undefined && schema.description === undefined) schema = schema.def.innerType;
  return schema?.description;
}

/** What a schema is made of, as far as it leads to another. */
interface Node {
  description?: string | undefined;
  def: {
    type: string;
    innerType?: Node;
    shape?: Record<string, Node>;
    valueType?: Node;
    element?: Node;
  };
}

function schemaAt(path: string): Node | undefined {
  const keys = path === "" ? [] : path.split(".");
  const root: z.ZodType = configSchema;
  return keys.reduce<Node | undefined>((at, key) => below(inner(at), key), root as unknown as Node);
}

function below(schema: Node | undefined, key: string): Node | undefined {
  const { shape, valueType, element } = schema?.def ?? {};
  if (shape !== undefined) return Object.hasOwn(shape, key) ? shape[key] : undefined;
  return valueType ?? element;
}

/** Without what only adds a default or lets it be left out. */
function inner(schema: Node | undefined): Node | undefined {
  return schema?.def.innerType === undefined ? schema : inner(schema.def.innerType);
}
