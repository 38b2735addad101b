import * as z from "zod/mini";
import { configSchema } from "./schema.ts";

/** The file beside the bundle, for editors (`"$schema"` in the config). */
export const JSON_SCHEMA_FILE = "steward.schema.json";

/**
 * The config file's form as JSON Schema (draft 2020-12), before defaults. Rules across several keys are
 * not in it: `steward config validate` checks those.
 */
export function configJsonSchema(): object {
  return { title: "steward.json", ...z.toJSONSchema(configSchema, { io: "input" }) };
}
