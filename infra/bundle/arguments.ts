import { AGENT, STATE_SCHEMA, VERSION } from "../../runtime/contract/names.ts";

/**
 * Image label with the version of the data schema that the image's programs write. Older programs must not open such
 * data.
 */
export const SCHEMA_LABEL = `${AGENT}.state-schema`;

/**
 * Build arguments of the application image. All except BASE become labels.
 *
 * @param build the bundle's hash and the base image
 */
export function buildArguments(build: { hash: string; base: string }): Record<string, string> {
  return { BASE: build.base, VERSION, REVISION: build.hash, STATE_SCHEMA: String(STATE_SCHEMA) };
}
