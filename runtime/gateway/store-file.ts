import { readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import type * as z from "zod/mini";
import "../contract/english.ts";
import { StewardError } from "../contract/errors.ts";
import { withLock } from "../process/lock.ts";

interface SetAside {
  path: string;
  movedTo: string;
  problem: string;
}

export interface StoreFileOptions {
  /** Milliseconds since the epoch. */
  clock(): number;
  onSetAside(report: SetAside): void;
}

/**
 * Result of reading a store. `value` is `undefined` if the file does not exist. `problem` says why the file is
 * invalid.
 */
export type StoreReading<T> = { ok: true; value: T | undefined } | { ok: false; problem: string };

const DENIED = new Set<unknown>(["EACCES", "EPERM"]);

/**
 * Reads a JSON store. Renames a corrupt file, to preserve its content, and treats it as missing. A caller that
 * changes the store must hold a lock during the read and the write, but not `<path>.lock`, which this function may
 * take.
 *
 * @throws StewardError `data_directory_unwritable` if permissions are insufficient
 */
export function readStoreFile<T>(
  path: string,
  schema: z.ZodMiniType<T>,
  { clock, onSetAside }: StoreFileOptions,
): T | undefined {
  const first = readStore(path, schema);
  if (first.ok) return first.value;
  return withLock(`${path}.lock`, () => {
    // Read again: another process may have replaced the file before this process got the lock.
    const reading = readStore(path, schema);
    if (reading.ok) return reading.value;
    const movedTo = `${path}.corrupt-${new Date(clock()).toISOString().replaceAll(":", "-")}`;
    renameSync(path, movedTo);
    onSetAside({ path, movedTo, problem: reading.problem });
    return undefined;
  });
}

/**
 * Reads a JSON store without changing it. `problem` quotes no values from the file.
 *
 * @throws StewardError `data_directory_unwritable` if permissions are insufficient.
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

/** Returns the paths of corrupt stores that were renamed to `<name>.corrupt-<time>`. */
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
