import { mkdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { STATE_FILE } from "../../contract/names.ts";
import type { Approvals, TenantChat, TenantId } from "../../contract/tenant.ts";
import { openDatabase, storeFailure, transaction } from "../../process/database.ts";
import { ensureDirectory, exists, writeFileAtomic } from "../../process/files.ts";
import { fromOtherStore } from "../../shared/pairing-list.ts";
import { APPROVALS, BROUGHT_BACK_TABLE, digestsBelow, chatFoldersOf, hasTable } from "./chat-part.ts";
import { ORIGIN_TABLE, storedChat, recomputeSums } from "./chat-part.ts";
import { contentBelow } from "./content.ts";
import { mergeFile, type Origin } from "./merge.ts";
import { mergeRows } from "./merge-rows.ts";
import { copyTables } from "./tables.ts";

/** Subfolder for a tenant's files that cannot replace those of the shared state. */
const CONFLICTS = "brought-back";
/** Error codes for a file where a folder is needed, or a folder where a file is needed. */
const IN_THE_WAY = new Set(["EEXIST", "ENOTDIR", "EISDIR", "ENOTEMPTY"]);

interface TenantPart {
  tenant: TenantId;
  id: string;
  directory: string;
}

/** Record of the data that was copied to a tenant from the shared state of all chats. */
interface PartOrigin {
  transcript: Origin | undefined;
  /** SHA-256 of each file when the tenant's data was copied, by path in the data directory. */
  files: ReadonlyMap<string, string>;
}

/**
 * Merges a tenant's backup into the shared state of all chats. If a file changed in both, keeps both copies. The
 * gateway must not be running.
 */
export async function mergeTenant(home: string, { tenant, id, directory }: TenantPart): Promise<void> {
  const [theirs, ours] = [join(directory, STATE_FILE), join(home, STATE_FILE)];
  if (!exists(theirs)) return;
  if (!exists(ours)) createTables(theirs, ours);
  const { chat, origin } = readPart(theirs, tenant);
  await mergeFiles(home, directory, { chat, id, origin });
  changing(ours, (database) => {
    database.prepare("ATTACH DATABASE ? AS theirs").run(theirs);
    transaction(database, () => {
      mergeRows(database, chat, origin.transcript);
      recordMerged(database, tenant, id);
    });
  });
}

/**
 * Replaces the approvals and pairing requests with those of the tenant directory, unless `version` or a newer version
 * was already applied. The gateway must not be running.
 */
export function replaceApprovals(home: string, { version, platforms, browsers = [] }: Approvals): void {
  const folder = join(home, "credentials");
  changing(join(home, STATE_FILE), (database) => {
    if (hasTable(database, BROUGHT_BACK_TABLE)) {
      const query = `SELECT 1 FROM ${BROUGHT_BACK_TABLE} WHERE name = ? AND version >= ?`;
      if (database.prepare(query).get(APPROVALS, version) !== undefined) return;
    }
    ensureDirectory(folder);
    for (const [platform, { allowFrom, operators, requests }] of Object.entries(platforms)) {
      const write = (name: string, key: string, list: readonly unknown[] | undefined): void => {
        const file = join(folder, `${platform}-${name}.json`);
        if (list !== undefined && (list.length > 0 || exists(file)))
          writeFileAtomic(file, `${JSON.stringify({ version: 1, [key]: list }, null, 2)}\n`);
      };
      // Write the operators first. Otherwise, after a crash, a newly approved person could still have operator rights
      // from a previous approval.
      write("operators", "operators", operators);
      write("allowFrom", "allowFrom", allowFrom);
      write("pairing", "requests", requests?.map(fromOtherStore));
    }
    if (browsers.length > 0) {
      const devices = join(home, "devices");
      ensureDirectory(devices);
      const paired = Object.fromEntries(browsers.map((one) => [one.deviceId, one]));
      writeFileAtomic(join(devices, "paired.json"), `${JSON.stringify(paired, null, 2)}\n`);
    }
    recordMerged(database, APPROVALS, version);
  });
}

function changing(path: string, work: (database: DatabaseSync) => void): void {
  const database = openDatabase(path);
  try {
    work(database);
  } catch (error) {
    throw storeFailure(error, path) ?? error;
  } finally {
    database.close();
  }
}

function createTables(like: string, path: string): void {
  copyTables(like, path, {});
  const database = new DatabaseSync(path);
  try {
    recomputeSums(database);
  } finally {
    database.close();
  }
}

function readPart(path: string, tenant: TenantId): { chat: TenantChat; origin: PartOrigin } {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const chat = storedChat(tenant, database);
    if (!hasTable(database, ORIGIN_TABLE))
      return { chat, origin: { transcript: undefined, files: new Map() } };
    const rows = database.prepare(`SELECT name, value FROM ${ORIGIN_TABLE}`).all();
    const values = new Map(rows.map(({ name, value }) => [String(name), String(value)]));
    const prefix = "file ";
    const files = [...values].flatMap(([name, value]): [string, string][] =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [],
    );
    const transcript = { seq: Number(values.get("seq")), at: Number(values.get("at")) };
    return { chat, origin: { transcript, files: new Map(files) } };
  } finally {
    database.close();
  }
}

function recordMerged(database: DatabaseSync, name: string, version: string): void {
  database.exec(
    `CREATE TABLE IF NOT EXISTS ${BROUGHT_BACK_TABLE} (name TEXT PRIMARY KEY, version TEXT NOT NULL)
     STRICT, WITHOUT ROWID`,
  );
  database.prepare(`INSERT OR REPLACE INTO ${BROUGHT_BACK_TABLE} VALUES (?, ?)`).run(name, version);
}

async function mergeFiles(
  home: string,
  directory: string,
  { chat, id, origin }: { chat: TenantChat; id: string; origin: PartOrigin },
): Promise<void> {
  const { shared, sharedHistory, own, ownHistory } = chatFoldersOf(chat);
  for (const folder of [shared, own]) {
    const ours = await digestsBelow(home, folder);
    for (const [name, theirs] of await digestsBelow(directory, folder)) {
      const decision = mergeFile(ours.get(name), theirs, origin.files.get(name));
      if (decision === "ours") continue;
      const rest = folder === shared ? name : name.slice(folder.length + 1);
      const beside = `${own}/${CONFLICTS}/${id}/${rest}`;
      if (decision === "both" || !(await tryPlace(directory, home, name)))
        await place(join(directory, name), join(home, beside));
    }
  }
  for (const folder of [sharedHistory, ownHistory]) {
    for await (const { name, path, stats } of contentBelow(directory, folder))
      if (stats.isFile() && !exists(join(home, name))) await place(path, join(home, name));
  }
}

/**
 * Moves a file into the data directory.
 *
 * @returns false if a folder exists at the file's path, or a file at the path of a parent folder
 */
async function tryPlace(directory: string, home: string, name: string): Promise<boolean> {
  try {
    await place(join(directory, name), join(home, name));
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && IN_THE_WAY.has(String(error.code))) return false;
    throw error;
  }
}

async function place(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await rename(from, to);
}
