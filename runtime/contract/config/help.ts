import * as z from "zod/mini";
import type { ToldProblem } from "../control.ts";
import { deprecatedKey } from "./deprecated.ts";
import type { ConfigProblem } from "./index.ts";
import { configSchema } from "./schema.ts";

/** A problem in words that may be shown, with what the schema says of its place. */
export function tellProblem(problem: ConfigProblem, redact: (text: string) => string): ToldProblem {
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
  for (let schema = schemaAt(path); schema !== undefined; schema = schema.def.innerType) {
    const description = z.globalRegistry.get(schema)?.description;
    if (description !== undefined) return description;
  }
  return undefined;
}

/** A schema with the parts of it that lead to other schemas. */
interface Node extends z.core.$ZodType {
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
  const root: z.ZodMiniType = configSchema;
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
