import * as z from "zod/mini";
import { configSchema } from "./schema.ts";

/** File next to the bundle to which `"$schema"` in a config can refer, for editors. */
export const JSON_SCHEMA_FILE = "steward.schema.json";

/**
 * Returns the config file's JSON Schema (draft 2020-12), before defaults. It lacks rules across several keys, which
 * `steward config validate` checks.
 */
export function configJsonSchema(): object {
  return { title: "steward.json", ...z.toJSONSchema(configSchema, { io: "input" }) };
}
