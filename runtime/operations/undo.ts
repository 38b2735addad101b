import * as z from "zod/mini";
import { sha256Hex } from "../contract/digest.ts";
import { StewardError } from "../contract/errors.ts";
import { parseJson } from "../shared/json.ts";
import { argument, type Entrance } from "./operation.ts";

/** Rights of the operations that undo: only a page offers it, for seconds. */
export const PAGES: readonly Entrance[] = ["console"];

/** Input of an operation that restores what another one removed. */
export const removed = () =>
  z.strictObject({ record: argument(z.string(), "`undo` of the removal's answer") });

/** Returns what a removal took, as the text from which it can be restored. */
export async function sealed(taken: object): Promise<string> {
  const text = JSON.stringify(taken);
  return `${await sha256Hex(text)} ${text}`;
}

/**
 * Reads what {@link sealed} returned.
 *
 * @throws StewardError `undo_changed` for another text, such as one in which a secret was masked on its way.
 */
export async function unsealed<T>(record: string, schema: z.ZodMiniType<T>): Promise<T> {
  const text = record.slice(65);
  const { data } = schema.safeParse(parseJson(text));
  if (data === undefined || record !== `${await sha256Hex(text)} ${text}`)
    throw new StewardError("undo_changed");
  return data;
}
