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
 * Returns true if there is something at a path, links followed. `existsSync` asks with the real user's rights, which a host's
 * process does not use: with TENANCY=chat that is root, and its files belong to another user.
 */
export function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Creates a directory for this user alone where it is missing.
 *
 * @throws StewardError `data_directory_unwritable` if it cannot be created, `disk_full` if there is no room.
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
 * Writes a file so that a reader sees the old content or the new one, never a half, and so that the
 * new one survives a power cut. By default readable by this user alone.
 *
 * @throws StewardError `data_directory_unwritable` where the rights do not suffice,
 * `disk_full` where there is no room.
 */
export function writeFileAtomic(path: string, content: string | Uint8Array, mode = 0o600): void {
  const temporary = `${path}.${process.pid}.tmp`;
  guard(path, () => {
    try {
      const file = openSync(temporary, "w", mode);
      try {
        // The process's mask takes rights away.
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

/** Returns what a failure to write means to the operator; `undefined` where it is another one. */
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
