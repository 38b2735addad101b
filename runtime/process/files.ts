import {
  closeSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { StewardError } from "../contract/errors.ts";

const DENIED = new Set(["EACCES", "EPERM", "EROFS"]);

/**
 * Returns true if a path exists, following links. Checks the rights of the effective user. `existsSync` checks those
 * of the real user, who is root with TENANCY=chat.
 */
export function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Returns a string that changes with the file; `missing` if there is none. Call this function before reading the file,
 * so that a change in between is noticed later.
 */
export function fileVersion(path: string): string {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? "missing" : `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
  } catch (error) {
    return `unreadable ${String(error)}`;
  }
}

/**
 * Creates a directory if it is missing, with access for this user only.
 *
 * @throws StewardError `data_directory_unwritable` or `disk_full`.
 */
export function ensureDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    const unwritable = new StewardError("data_directory_unwritable", `${path} cannot be created (${code}).`);
    throw writeFailure(error, path) ?? unwritable;
  }
}

/**
 * Writes a file atomically; the new content survives a power cut. The default mode allows access only to this user.
 *
 * @throws StewardError `data_directory_unwritable` or `disk_full`.
 */
export function writeFileAtomic(path: string, content: string | Uint8Array, mode = 0o600): void {
  const temporary = `${path}.${process.pid}.tmp`;
  guard(path, () => {
    try {
      const file = openSync(temporary, "w", mode);
      try {
        // The process's umask may have removed permissions when the file was created.
        if (mode !== 0o600) fchmodSync(file, mode);
        writeFileSync(file, content);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(temporary, path);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  });
}

/** Converts a write failure to an error for the operator. Returns `undefined` for other errors. */
export function writeFailure(error: unknown, path: string): StewardError | undefined {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const options = { cause: error };
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new StewardError("disk_full", `${path} cannot be written: the disk is full.`, options);
  }
  if (!DENIED.has(code)) return undefined;
  return new StewardError("data_directory_unwritable", `${path} cannot be written (${code}).`, options);
}

function guard(path: string, action: () => void): void {
  try {
    action();
  } catch (error) {
    throw writeFailure(error, path) ?? error;
  }
}
