import type * as z from "zod/mini";
import { configSchema } from "./schema.ts";

/** Returns the keys of the object at a dotted path, or an empty list if there is no object. */
export function keysAt(path: string): string[] {
  const { def } = inner(schemaAt(path)) ?? {};
  return def?.type === "object" ? Object.keys(def.shape ?? {}) : [];
}

/** Returns every key that the schema defines, at any depth. */
export function schemaKeys(): ReadonlySet<string> {
  const keys = new Set<string>();
  const seen = new Set<Node>();
  const walk = (node: Node | undefined): void => {
    if (node === undefined || seen.has(node)) return;
    seen.add(node);
    const { shape = {}, innerType, valueType, element, options = [] } = node.def;
    for (const key of Object.keys(shape)) keys.add(key);
    for (const next of [...Object.values(shape), innerType, valueType, element, ...options]) walk(next);
  };
  walk(ROOT);
  return keys;
}

/** A zod schema. Its `def` declares the schema's type and the fields that can contain other schemas. */
interface Node extends z.core.$ZodType {
  def: {
    type: string;
    innerType?: Node;
    shape?: Record<string, Node>;
    valueType?: Node;
    element?: Node;
    options?: readonly Node[];
  };
}

// zod's own schema type does not declare all fields of `Node.def`.
const ROOT = configSchema as unknown as Node;

/** Returns the schema of the value at a dotted path, or `undefined` if the config has no such value. */
export function schemaAt(path: string): Node | undefined {
  const keys = path === "" ? [] : path.split(".");
  return keys.reduce<Node | undefined>((at, key) => below(inner(at), key), ROOT);
}

function below(schema: Node | undefined, key: string): Node | undefined {
  const { shape, valueType, element } = schema?.def ?? {};
  if (shape !== undefined) return Object.hasOwn(shape, key) ? shape[key] : undefined;
  return valueType ?? element;
}

/** Unwraps defaults and optionals. */
function inner(schema: Node | undefined): Node | undefined {
  return schema?.def.innerType === undefined ? schema : inner(schema.def.innerType);
}
