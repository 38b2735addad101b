import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { RegisteredResource } from "./registered.ts";

/**
 * Part of the official `cloudflare` provider's input schema, from `pulumi package get-schema cloudflare`, July 2026.
 */
interface Schema {
  resources: Record<string, { inputProperties: Record<string, Property> }>;
  types: Record<string, { properties?: Record<string, Property> }>;
}

interface Property {
  $ref?: string;
  items?: Property;
}

const FILE = join(import.meta.dirname, "../rehearsal/providers/fixtures/official-schema.json");

/** Returns a sentence for each property that the official provider does not have. */
export async function unknownProperties(
  resources: readonly Pick<RegisteredResource, "type" | "inputs">[],
): Promise<string[]> {
  const schema = JSON.parse(await readFile(FILE, "utf8")) as Schema;
  return resources
    .filter(({ type }) => type.startsWith("cloudflare:"))
    .flatMap(({ type, inputs }) => {
      const known = schema.resources[type]?.inputProperties;
      if (known === undefined) return [`the official provider has no ${type}`];
      return unknownPaths(schema, known, inputs).map((path) => `${type} has no ${path}`);
    });
}

function unknownPaths(schema: Schema, known: Record<string, Property>, given: object): string[] {
  return Object.entries(given).flatMap(([key, value]) => {
    const property = known[key];
    if (property === undefined) return [key];
    const { $ref } = property.items ?? property;
    const below = schema.types[$ref?.replace("#/types/", "") ?? ""]?.properties;
    if (below === undefined) return [];
    const items: unknown[] = Array.isArray(value) ? value : [value];
    return items.flatMap((item) => unknownPaths(schema, below, Object(item)).map((path) => `${key}.${path}`));
  });
}
