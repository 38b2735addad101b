import { readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import type * as z from "zod/mini";
import "../contract/english.ts";
import { StewardError } from "../contract/errors.ts";
import { withLock } from "../process/lock.ts";

/** A store that could not be read: where its content lies now, and what was wrong with it. */
interface SetAside {
  path: string;
  movedTo: string;
  problem: string;
}

/** Requirements of reading a store. */
export interface StoreFileOptions {
  /** Milliseconds since the epoch. */
  clock(): number;
  /** Told of a store that could not be read and was set aside. */
  onSetAside(report: SetAside): void;
}

/** A store's content; `undefined` where there is no file; the problem where the file is not a store. */
export type StoreReading<T> = { ok: true; value: T | undefined } | { ok: false; problem: string };

const DENIED = new Set<unknown>(["EACCES", "EPERM"]);

/**
 * Reads a JSON store. One that cannot be read is renamed, so that nothing of it is lost and a new one
 * can begin, and counts as missing. Whoever changes stores does so under a lock of its own; the one
 * that is taken here only keeps two readers from setting the same file aside.
 *
 * @throws StewardError `data_directory_unwritable` where the rights do not suffice.
 */
export function readStoreFile<T>(
  path: string,
  schema: z.ZodMiniType<T>,
  { clock, onSetAside }: StoreFileOptions,
): T | undefined {
  const first = readStore(path, schema);
  if (first.ok) return first.value;
  return withLock(`${path}.lock`, () => {
    // Once more: another process may have set it aside and written a new one.
    const reading = readStore(path, schema);
    if (reading.ok) return reading.value;
    const movedTo = `${path}.corrupt-${new Date(clock()).toISOString().replaceAll(":", "-")}`;
    renameSync(path, movedTo);
    onSetAside({ path, movedTo, problem: reading.problem });
    return undefined;
  });
}

/**
 * Reads a JSON store and leaves it as it is. A problem's text quotes nothing of the file.
 *
 * @throws StewardError `data_directory_unwritable` where the rights do not suffice.
 */
export function readStore<T>(path: string, schema: z.ZodMiniType<T>): StoreReading<T> {
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

/** Stores that could not be read and were renamed, `<name>.corrupt-<time>`, with their whole paths. */
export function setAsideFiles(home: string): string[] {
  return ["", "credentials", "devices"].flatMap((folder) =>
    names(join(home, folder))
      .filter((name) => /\.corrupt-[\dT.Z-]+$/.test(name) && !/-(wal|shm)$/.test(name))
      .map((name) => join(home, folder, name)),
  );
}

function names(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
