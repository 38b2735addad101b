import { readFileSync, renameSync } from "node:fs";
import * as z from "zod";
import { StewardError } from "../../contract/errors.ts";

const requestSchema = z.looseObject({
  id: z.string().min(1),
  code: z.string().min(1),
  createdAt: z.iso.datetime(),
  lastSeenAt: z.iso.datetime(),
  meta: z.record(z.string(), z.string()).optional(),
});

/** `credentials/<channel>-pairing.json`. */
export const requestsSchema = z.strictObject({ version: z.literal(1), requests: z.array(requestSchema) });

/** `credentials/<channel>-allowFrom.json`. */
export const approvedSchema = z.strictObject({
  version: z.literal(1),
  allowFrom: z.array(z.string().min(1)),
});

/** A sender that waits for approval. Times are ISO 8601; `meta` is what the platform tells of the person. */
export type PairingRequest = z.infer<typeof requestSchema>;

/** A store that could not be read: where its content lies now, and what was wrong with it. */
export interface SetAside {
  path: string;
  movedTo: string;
  problem: string;
}

/** A store's content; `undefined` where there is no file; the problem where the file is not a store. */
export type StoreReading<T> = { ok: true; value: T | undefined } | { ok: false; problem: string };

const DENIED = new Set<unknown>(["EACCES", "EPERM"]);

/**
 * Reads a store. A problem's text quotes nothing of the file.
 *
 * @throws StewardError `data_directory_unwritable` where the rights do not suffice.
 */
export function readStore<T>(path: string, schema: z.ZodType<T>): StoreReading<T> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return { ok: true, value: undefined };
    if (!DENIED.has(code)) throw error;
    throw new StewardError("data_directory_unwritable", `${path} cannot be read (${String(code)}).`, {
      cause: error,
    });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: "not valid JSON" };
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data };
  const { path: at, message } = parsed.error.issues[0] ?? { path: [], message: "unknown form" };
  return { ok: false, problem: `${at.join(".") || "(root)"}: ${message}` };
}

/** Renames a store that cannot be read, so that nothing of it is lost and a new one can begin. */
export function setAside(path: string, problem: string, now: number): SetAside {
  const movedTo = `${path}.corrupt-${new Date(now).toISOString().replaceAll(":", "-")}`;
  renameSync(path, movedTo);
  return { path, movedTo, problem };
}
