import { existsSync, renameSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { reason, type Reason, StewardError } from "../contract/errors.ts";

/** Maximum wait for a lock, in milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;
/**
 * Maximum wait for a lock in {@link HeldDatabase.problem}, in milliseconds. The wait blocks the process, so it is
 * short.
 */
const PROBE_TIMEOUT_MS = 500;
/** Maximum size of a database that is checked at every start, in bytes. Only `steward doctor` checks larger ones. */
const CHECKED_BYTES = 4 * 1024 * 1024;
/** SQLite's primary result codes (https://sqlite.org/rescode.html). */
const CODE = { busy: 5, io: 10, corrupt: 11, full: 13, notADatabase: 26 };
const MAX_ATTEMPTS = 3;

/** A corrupt database that was renamed. */
export interface DatabaseSetAside {
  path: string;
  movedTo: string;
  problem: string;
}

/** An open database. Its shared lock prevents other processes from renaming the database file. */
export class HeldDatabase extends DatabaseSync {
  readonly #path: string;
  readonly #hold: DatabaseSync;
  /** Inode of the opened file, to detect that another file has replaced it. */
  readonly #inode: number;

  constructor(path: string, hold: DatabaseSync) {
    super(path, { timeout: BUSY_TIMEOUT_MS });
    this.#path = path;
    this.#hold = hold;
    this.#inode = statSync(path).ino;
  }

  /**
   * Returns the reason why the database cannot be written; `undefined` if it is writable. Begins a write and rolls it
   * back.
   */
  problem(): Reason | undefined {
    const path = this.#path;
    if (statSync(path, { throwIfNoEntry: false })?.ino !== this.#inode)
      return reason("ledger_unavailable", `${path} was removed or replaced while the service has it open.`);
    try {
      this.exec(`PRAGMA busy_timeout = ${PROBE_TIMEOUT_MS}; BEGIN IMMEDIATE; ROLLBACK`);
      return undefined;
    } catch (error) {
      const isLocked = resultCode(error) === CODE.busy;
      if (isLocked) return reason("ledger_unavailable", `Another process has ${path} locked.`);
      return storeFailure(error, path)?.reason ?? reason("ledger_unavailable", String(error));
    } finally {
      this.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
  }

  override close(): void {
    super.close();
    this.#hold.close();
  }
}

/**
 * Opens a SQLite file whose transactions survive a power cut, except those of {@link lightTransaction}. Holds a
 * shared lock on `<path>.lock` until the database is closed. Renames a corrupt file to `<path>.corrupt-<time>` and
 * creates a new file.
 *
 * @throws StewardError `disk_full` or `data_directory_unwritable`, or `store_corrupt` if another process has the
 * corrupt file open.
 */
export function openDatabase(path: string, onSetAside?: (report: DatabaseSetAside) => void): HeldDatabase {
  try {
    return open(path, onSetAside, 1);
  } catch (error) {
    throw storeFailure(error, path) ?? error;
  }
}

/** Converts a SQLite failure to an error for the operator, or returns `undefined`. */
export function storeFailure(error: unknown, path = "The store"): StewardError | undefined {
  const options = { cause: error };
  switch (resultCode(error)) {
    case CODE.full:
    case CODE.io:
      return new StewardError("disk_full", `${path} cannot be written: the disk is full or fails.`, options);
    case CODE.corrupt:
    case CODE.notADatabase:
      return new StewardError("store_corrupt", `${path} is corrupt.`, options);
    case 8:
    case 14:
      return new StewardError("data_directory_unwritable", `${path} cannot be opened or written.`, options);
    default:
      return undefined;
  }
}

function open(
  path: string,
  onSetAside: ((report: DatabaseSetAside) => void) | undefined,
  attempt: number,
): HeldDatabase {
  const hold = new DatabaseSync(`${path}.lock`, { timeout: BUSY_TIMEOUT_MS });
  let database: HeldDatabase | undefined;
  try {
    hold.exec("BEGIN; SELECT count(*) FROM sqlite_schema");
    database = new HeldDatabase(path, hold);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    check(database, path);
    return database;
  } catch (error) {
    if (database?.isOpen) database.close();
    else hold.close();
    const code = resultCode(error);
    const corrupt = code === CODE.corrupt || code === CODE.notADatabase;
    if (!corrupt || attempt === MAX_ATTEMPTS) throw error;
    const report = setAside(path, error instanceof Error ? error.message : "corrupt");
    if (report !== undefined) onSetAside?.(report);
    return open(path, onSetAside, attempt + 1);
  }
}

function check(database: DatabaseSync, path: string): void {
  database.prepare("SELECT count(*) FROM sqlite_schema").get();
  if (statSync(path).size > CHECKED_BYTES) return;
  const problem = database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
  if (problem !== "ok") throw Object.assign(new Error("quick_check failed"), { errcode: CODE.corrupt });
}

/** Renames a corrupt database. Returns `undefined` if another process has it open or has already renamed it. */
function setAside(path: string, problem: string): DatabaseSetAside | undefined {
  const alone = new DatabaseSync(`${path}.lock`, { timeout: 500 });
  try {
    alone.exec("BEGIN EXCLUSIVE");
    const movedTo = `${path}.corrupt-${new Date().toISOString().replaceAll(":", "-")}`;
    for (const suffix of ["-wal", "-shm", ""]) {
      if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${movedTo}${suffix}`);
    }
    return { path, movedTo, problem };
  } catch (error) {
    if (resultCode(error) === CODE.busy) return undefined;
    throw error;
  } finally {
    alone.close();
  }
}

/** Returns true for SQLite failures such as a full disk or another process's lock. */
export function isStoreError(error: unknown): boolean {
  return resultCode(error) === CODE.busy || storeFailure(error) !== undefined;
}

// Returns the primary result code: the lowest byte of the extended code that Node reports.
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error && "errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}

/** Runs synchronous `work` atomically. If a transaction is already open, `work` becomes part of it. */
export function transaction<T>(database: DatabaseSync, work: () => T): T {
  if (database.isTransaction) return work();
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    // If the disk is full, SQLite has already rolled back.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/**
 * Runs `work` like {@link transaction}, but a power cut before the next normal transaction may undo it:
 * https://sqlite.org/pragma.html#pragma_synchronous. Use it for counters and for data that can be recomputed.
 */
export function lightTransaction<T>(database: DatabaseSync, work: () => T): T {
  if (database.isTransaction) return work();
  database.exec("PRAGMA synchronous = NORMAL");
  try {
    return transaction(database, work);
  } finally {
    database.exec("PRAGMA synchronous = FULL");
  }
}
