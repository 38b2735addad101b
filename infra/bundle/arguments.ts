import { AGENT, STATE_SCHEMA, VERSION } from "../../runtime/contract/names.ts";

/** Image label with the newest data schema that its programs write. Older versions must not open that data. */
export const SCHEMA_LABEL = `${AGENT}.state-schema`;

/**
 * Build arguments of the application image. All except BASE become labels.
 *
 * @param build the bundle's hash and the base image
 */
export function buildArguments(build: { hash: string; base: string }): Record<string, string> {
  return { BASE: build.base, VERSION, REVISION: build.hash, STATE_SCHEMA: String(STATE_SCHEMA) };
}
