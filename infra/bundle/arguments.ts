import { AGENT, STATE_SCHEMA, VERSION } from "../../runtime/contract/names.ts";

/** Image label with the data schema version that the image writes. Older programs must not open newer data. */
export const SCHEMA_LABEL = `${AGENT}.state-schema`;

/** Build arguments of the application image. All except BASE become labels. */
export function buildArguments(build: { hash: string; base: string }): Record<string, string> {
  return { BASE: build.base, VERSION, REVISION: build.hash, STATE_SCHEMA: String(STATE_SCHEMA) };
}
