import * as z from "zod/mini";
import { configSchema } from "./schema.ts";

/** Name of the JSON Schema next to the bundle. Editors use it if a config refers to it in `"$schema"`. */
export const JSON_SCHEMA_FILE = "steward.schema.json";

/**
 * Returns the config file's JSON Schema (draft 2020-12). Keys with a default are optional. The schema omits rules
 * that involve several keys.
 */
export function configJsonSchema(): object {
  return { title: "steward.json", ...z.toJSONSchema(configSchema, { io: "input" }) };
}
