import type { DatabaseSync } from "node:sqlite";
import { StewardError } from "../contract/errors.ts";
import { OLDEST_STATE_SCHEMA, STATE_SCHEMA } from "../contract/names.ts";
import { type DatabaseSetAside, openDatabase } from "../process/database.ts";

/** Schema of a new database. Every change also needs an entry in {@link MIGRATIONS}. */
const SCHEMA = `
   CREATE TABLE messages (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     conversation TEXT NOT NULL,
     delivery TEXT NOT NULL,
     role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
     sender TEXT,
     text TEXT NOT NULL,
     at INTEGER NOT NULL,
     name TEXT,
     context TEXT,
     question TEXT,
     username TEXT,
     quoted TEXT,
     message TEXT,
     words INTEGER,
     UNIQUE (conversation, delivery, role)
   ) STRICT;
   CREATE INDEX messages_by_conversation ON messages (conversation, seq);
   CREATE TABLE deliveries (
     platform TEXT NOT NULL,
     id TEXT NOT NULL,
     sent INTEGER NOT NULL,
     answered INTEGER NOT NULL CHECK (answered IN (0, 1)),
     at INTEGER NOT NULL,
     owner TEXT,
     chat TEXT,
     thread TEXT,
     draft TEXT,
     said TEXT,
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
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE waiting_senders (
     platform TEXT NOT NULL,
     sender TEXT NOT NULL,
     chat TEXT NOT NULL,
     thread TEXT,
     PRIMARY KEY (platform, sender)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE sessions (
     conversation TEXT PRIMARY KEY,
     begins_after INTEGER NOT NULL DEFAULT 0,
     messages INTEGER NOT NULL DEFAULT 0,
     updated_at INTEGER,
     model TEXT,
     summary TEXT,
     summary_to INTEGER NOT NULL DEFAULT 0,
     token_ratio REAL
   ) STRICT;
   CREATE INDEX sessions_by_update ON sessions (updated_at);
   CREATE TABLE session_totals (
     id INTEGER PRIMARY KEY CHECK (id = 1),
     conversations INTEGER NOT NULL,
     messages INTEGER NOT NULL
   ) STRICT;
   INSERT INTO session_totals VALUES (1, 0, 0);
   CREATE TRIGGER sessions_counted AFTER INSERT ON sessions BEGIN
     UPDATE session_totals SET conversations = conversations + 1;
   END;
   CREATE TRIGGER messages_counted AFTER INSERT ON messages BEGIN
     INSERT INTO sessions (conversation, messages, updated_at) VALUES (new.conversation, 1, new.at)
       ON CONFLICT (conversation) DO UPDATE SET messages = messages + 1, updated_at = excluded.updated_at;
     UPDATE session_totals SET messages = messages + 1;
   END;
   CREATE TABLE session_context (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     conversation TEXT NOT NULL,
     delivery TEXT NOT NULL,
     name TEXT NOT NULL,
     text TEXT NOT NULL,
     at INTEGER NOT NULL,
     sender TEXT,
     username TEXT,
     message TEXT,
     was TEXT,
     UNIQUE (conversation, delivery)
   ) STRICT;
   CREATE INDEX session_context_by_conversation ON session_context (conversation, seq);
   CREATE TABLE steps (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     conversation TEXT NOT NULL,
     delivery TEXT NOT NULL,
     text TEXT NOT NULL,
     at INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX steps_by_delivery ON steps (conversation, delivery, seq);
   CREATE INDEX steps_by_age ON steps (at);
   CREATE TABLE tool_calls (
     step INTEGER NOT NULL REFERENCES steps (seq) ON DELETE CASCADE,
     position INTEGER NOT NULL,
     id TEXT NOT NULL,
     name TEXT NOT NULL,
     input TEXT NOT NULL,
     state TEXT NOT NULL CHECK (state IN ('waiting', 'begun', 'done', 'failed')),
     output TEXT,
     PRIMARY KEY (step, position)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE schedules (
     id TEXT PRIMARY KEY,
     source TEXT NOT NULL CHECK (source IN ('config', 'chat', 'cli')),
     spec TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     next_at INTEGER,
     last_at INTEGER,
     last_outcome TEXT,
     made_by TEXT
   ) STRICT;
   CREATE INDEX schedules_due ON schedules (next_at) WHERE next_at IS NOT NULL;
   CREATE TABLE schedule_runs (
     schedule TEXT NOT NULL,
     due_at INTEGER NOT NULL,
     state TEXT NOT NULL CHECK (state IN ('pending', 'done', 'failed', 'missed')),
     count INTEGER NOT NULL,
     attempts INTEGER NOT NULL DEFAULT 0,
     at INTEGER NOT NULL,
     next_at INTEGER,
     note TEXT,
     PRIMARY KEY (schedule, due_at)
   ) STRICT;
   CREATE INDEX schedule_runs_pending ON schedule_runs (next_at) WHERE state = 'pending';
   CREATE TABLE delivery_totals (
     id INTEGER PRIMARY KEY CHECK (id = 1),
     answered INTEGER NOT NULL
   ) STRICT;
   INSERT INTO delivery_totals VALUES (1, 0);
   CREATE TRIGGER deliveries_counted AFTER INSERT ON deliveries WHEN new.answered = 1 BEGIN
     UPDATE delivery_totals SET answered = answered + 1;
   END;
   CREATE TRIGGER deliveries_answered AFTER UPDATE OF answered ON deliveries
     WHEN new.answered <> old.answered BEGIN
     UPDATE delivery_totals SET answered = answered + new.answered - old.answered;
   END;
   CREATE TRIGGER deliveries_forgotten AFTER DELETE ON deliveries WHEN old.answered = 1 BEGIN
     UPDATE delivery_totals SET answered = answered - 1;
   END;
   CREATE INDEX schedule_runs_by_age ON schedule_runs (at);
   CREATE INDEX schedule_runs_missed ON schedule_runs (at, count) WHERE state = 'missed';
   CREATE TABLE message_days (
     day TEXT PRIMARY KEY,
     received INTEGER NOT NULL,
     answered INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TRIGGER messages_by_day AFTER INSERT ON messages BEGIN
     INSERT INTO message_days
       VALUES (date(new.at / 1000, 'unixepoch'), new.role = 'user', new.role = 'assistant')
       ON CONFLICT (day) DO UPDATE SET
         received = received + excluded.received, answered = answered + excluded.answered;
   END;
   CREATE INDEX messages_by_message ON messages (conversation, message) WHERE message IS NOT NULL;
   CREATE TABLE chat_moves (
     platform TEXT NOT NULL,
     former TEXT NOT NULL,
     chat TEXT NOT NULL,
     PRIMARY KEY (platform, former)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE chat_actions (
     press TEXT PRIMARY KEY,
     offer TEXT NOT NULL,
     platform TEXT NOT NULL,
     by TEXT NOT NULL,
     about TEXT,
     label TEXT NOT NULL,
     action TEXT NOT NULL,
     expires_at INTEGER NOT NULL,
     used TEXT
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX chat_actions_by_offer ON chat_actions (offer);
   CREATE INDEX chat_actions_by_age ON chat_actions (expires_at);
   CREATE TABLE contract_findings (
     area TEXT NOT NULL,
     what TEXT NOT NULL,
     count INTEGER NOT NULL,
     first_at INTEGER NOT NULL,
     last_at INTEGER NOT NULL,
     sample TEXT,
     PRIMARY KEY (area, what)
   ) STRICT, WITHOUT ROWID;
`;

/**
 * Each entry migrates one schema to the next, beginning with {@link OLDEST_STATE_SCHEMA}. Never edit released
 * entries; add a new one.
 */
const MIGRATIONS = [
  `ALTER TABLE messages ADD COLUMN quoted TEXT;
   ALTER TABLE messages ADD COLUMN message TEXT;
   ALTER TABLE messages ADD COLUMN words INTEGER;
   CREATE INDEX messages_by_message ON messages (conversation, message) WHERE message IS NOT NULL;
   ALTER TABLE session_context ADD COLUMN message TEXT;
   ALTER TABLE session_context ADD COLUMN was TEXT;
   CREATE TABLE chat_moves (
     platform TEXT NOT NULL,
     former TEXT NOT NULL,
     chat TEXT NOT NULL,
     PRIMARY KEY (platform, former)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE chat_actions (
     press TEXT PRIMARY KEY,
     offer TEXT NOT NULL,
     platform TEXT NOT NULL,
     by TEXT NOT NULL,
     about TEXT,
     label TEXT NOT NULL,
     action TEXT NOT NULL,
     expires_at INTEGER NOT NULL,
     used TEXT
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX chat_actions_by_offer ON chat_actions (offer);
   CREATE INDEX chat_actions_by_age ON chat_actions (expires_at);
   CREATE TABLE contract_findings (
     area TEXT NOT NULL,
     what TEXT NOT NULL,
     count INTEGER NOT NULL,
     first_at INTEGER NOT NULL,
     last_at INTEGER NOT NULL,
     sample TEXT,
     PRIMARY KEY (area, what)
   ) STRICT, WITHOUT ROWID;`,
];

/**
 * Opens the gateway's database and migrates its schema.
 *
 * @throws StewardError `data_newer` or `data_older` if this version cannot read the schema. The file then stays
 * unchanged.
 */
export function openStore(path: string, onSetAside?: (report: DatabaseSetAside) => void): DatabaseSync {
  const database = openDatabase(path, onSetAside);
  // 0 means that the file contains no gateway tables yet. On a host, it may already contain the edge's.
  const schema = Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
  const refusal = schema === 0 ? undefined : refusalOf(path, schema);
  if (refusal !== undefined) {
    database.close();
    throw refusal;
  }
  const missing = schema === 0 ? [SCHEMA] : MIGRATIONS.slice(schema - OLDEST_STATE_SCHEMA);
  if (missing.length > 0) {
    // One transaction, so that a crash leaves no intermediate version.
    database.exec(`BEGIN IMMEDIATE; ${missing.join(" ")} PRAGMA user_version = ${STATE_SCHEMA}; COMMIT;`);
  }
  return database;
}

function refusalOf(path: string, schema: number): StewardError | undefined {
  const read = `${path} has schema ${schema}, this version reads`;
  if (schema > STATE_SCHEMA) return new StewardError("data_newer", `${read} up to ${STATE_SCHEMA}.`);
  if (schema >= OLDEST_STATE_SCHEMA) return undefined;
  return new StewardError("data_older", `${read} ${OLDEST_STATE_SCHEMA} and later.`);
}
