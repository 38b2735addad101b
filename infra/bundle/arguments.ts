import { AGENT, STATE_SCHEMA, VERSION } from "../../runtime/contract/names.ts";

/** The image's label with the schema of the data that its programs write: what reads less must not get them. */
export const SCHEMA_LABEL = `${AGENT}.state-schema`;

/**
 * The build arguments of the application image. All but BASE end in its labels, which its containers have too.
 *
 * @param build the bundle's hash, and the image that it stands on
 */
export function buildArguments(build: { hash: string; base: string }): Record<string, string> {
  return { BASE: build.base, VERSION, REVISION: build.hash, STATE_SCHEMA: String(STATE_SCHEMA) };
}
