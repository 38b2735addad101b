import { DatabaseSync } from "node:sqlite";

/** On a host another process has the same file open; a writer waits for it this long. */
const BUSY_TIMEOUT_MS = 5_000;

/** One entry a schema version; an entry that was released is never edited, only followed by another. */
const MIGRATIONS = [
  `CREATE TABLE messages (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     conversation TEXT NOT NULL,
     delivery TEXT NOT NULL,
     role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
     sender TEXT,
     text TEXT NOT NULL,
     at INTEGER NOT NULL,
     UNIQUE (conversation, delivery, role)
   ) STRICT;
   CREATE INDEX messages_by_conversation ON messages (conversation, seq);
   CREATE TABLE deliveries (
     platform TEXT NOT NULL,
     id TEXT NOT NULL,
     sent INTEGER NOT NULL,
     answered INTEGER NOT NULL CHECK (answered IN (0, 1)),
     at INTEGER NOT NULL,
     PRIMARY KEY (platform, id)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX deliveries_by_age ON deliveries (at);
   CREATE TABLE usage (
     day TEXT NOT NULL,
     model TEXT NOT NULL,
     requests INTEGER NOT NULL,
     input_tokens INTEGER NOT NULL,
     output_tokens INTEGER NOT NULL,
     PRIMARY KEY (day, model)
   ) STRICT, WITHOUT ROWID;`,
  `CREATE TABLE waiting_senders (
     platform TEXT NOT NULL,
     sender TEXT NOT NULL,
     chat TEXT NOT NULL,
     thread TEXT,
     PRIMARY KEY (platform, sender)
   ) STRICT, WITHOUT ROWID;`,
];

/**
 * Opens the gateway's database and brings its schema up to date.
 *
 * Write-ahead log with full synchronisation: what was committed survives a crash and a power cut,
 * which the record of answered deliveries needs.
 *
 * @throws Error where the file was written by a later version.
 */
export function openStore(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
  const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
  if (version > MIGRATIONS.length) {
    database.close();
    throw new Error(`${path} has schema ${version}, this version knows up to ${MIGRATIONS.length}`);
  }
  for (const [index, migration] of MIGRATIONS.entries()) {
    if (index < version) continue;
    database.exec(`BEGIN IMMEDIATE; ${migration} PRAGMA user_version = ${index + 1}; COMMIT;`);
  }
  return database;
}
