import { existsSync, renameSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { reason, type Reason, StewardError } from "../contract/errors.ts";

/** On a host another process has the same file open; a writer waits for it this long. */
const BUSY_TIMEOUT_MS = 5_000;
/** {@link HeldDatabase.problem} waits this long for a lock. Nothing else runs in the process meanwhile. */
const PROBE_TIMEOUT_MS = 500;
/** A file of this size is looked through at every start; a larger one only by `steward doctor`. */
const CHECKED_BYTES = 4 * 1024 * 1024;
/** SQLite's primary result codes (https://sqlite.org/rescode.html). */
const CODE = { busy: 5, io: 10, corrupt: 11, full: 13, notADatabase: 26 };
const MOST_ATTEMPTS = 3;

/** A database that could not be read: where it lies now, and what was wrong with it. */
export interface DatabaseSetAside {
  path: string;
  movedTo: string;
  problem: string;
}

/** An open database, and a lock that keeps others from setting it aside meanwhile. */
export class HeldDatabase extends DatabaseSync {
  readonly #path: string;
  readonly #hold: DatabaseSync;
  /** The opened file's number: another file at the same path has another. */
  readonly #inode: number;

  constructor(path: string, hold: DatabaseSync) {
    super(path, { timeout: BUSY_TIMEOUT_MS });
    this.#path = path;
    this.#hold = hold;
    this.#inode = statSync(path).ino;
  }

  /**
   * Returns why the database cannot be written at the moment. It begins a write and rolls it back, so the file does not
   * change and nothing is synchronised.
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
 * Opens a SQLite file whose transactions survive a power cut: write-ahead log, synchronised at each
 * commit but the light ones' (transaction.ts). Whoever has it open holds a shared lock on `<path>.lock`. A
 * file that is no database, or a corrupt one, is renamed to `<path>.corrupt-<time>` and a new one begun, but
 * only while no other process has it open: what that still writes would be lost with it.
 *
 * @throws StewardError `store_corrupt` where it is corrupt and in use, `disk_full`,
 * `data_directory_unwritable`.
 */
export function openDatabase(path: string, onSetAside?: (report: DatabaseSetAside) => void): HeldDatabase {
  try {
    return open(path, onSetAside, 1);
  } catch (error) {
    throw storeFailure(error, path) ?? error;
  }
}

/** Returns what a failure of SQLite means to the operator; `undefined` where it is another one. */
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
    if (!corrupt || attempt === MOST_ATTEMPTS) throw error;
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

/** Renames the file with what belongs to it; `undefined` where somebody else has it open, or did it before. */
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

/** Tells whether the store failed, for example because the disk is full or another process has locked the file. */
export function isStoreError(error: unknown): boolean {
  return resultCode(error) === CODE.busy || storeFailure(error) !== undefined;
}

// Node tells the extended code; its lowest byte is the primary one.
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error && "errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}

/**
 * Runs `work` so that all of what it writes is kept, or nothing. It does not wait in between; inside of
 * another transaction it becomes a part of that one.
 */
export function transaction<T>(database: DatabaseSync, work: () => T): T {
  if (database.isTransaction) return work();
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    // SQLite itself rolls a transaction back when the disk is full.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/**
 * A {@link transaction} that may be lost in a power cut: its writes are recomputed or are only counters. It does not
 * wait for the disk, is still atomic, and is durable once any later transaction is:
 * https://sqlite.org/pragma.html#pragma_synchronous
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
