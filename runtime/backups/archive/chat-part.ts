import * as z from "zod/mini";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { ChatsReport } from "../../contract/control.ts";
import {
  CHAT_PLACES,
  chatOfTenant,
  isTenantId,
  type TenantChat,
  type TenantId,
  tenantOf,
} from "../../contract/tenant.ts";
import { CONFIG_FILE, STATE_FILE } from "../../contract/names.ts";
import { CHATS, WORKSPACE_FOLDERS } from "../../contract/workspace.ts";
import { chatName } from "../../process/chat-name.ts";
import { parseJson } from "../../shared/json.ts";
import { contentBelow, unlessGone } from "./content.ts";
import type { StatePart } from "./generation.ts";
import { exists } from "../../process/files.ts";
import { copyTables } from "./tables.ts";

const historyOf = (root: string): string => `${WORKSPACE_FOLDERS.history}/${root}`;
const BUSY_TIMEOUT_MS = 5_000;
const PLATFORM_CHAT = new RegExp(`^(${CHAT_PLACES.join("|")})[:-](.+)$`);

/** Folders that one chat uses. Every chat may read `shared` and `sharedHistory`, which belong to the deployment. */
export interface ChatFolders {
  shared: string;
  sharedHistory: string;
  own: string;
  ownHistory: string;
}

/** Returns paths relative to the data directory. */
export function chatFoldersOf({ platform, chat }: TenantChat): ChatFolders {
  const name = chatName(platform, chat);
  return {
    shared: WORKSPACE_FOLDERS.shared,
    sharedHistory: historyOf("shared"),
    own: `${WORKSPACE_FOLDERS.chats}/${name}`,
    ownHistory: historyOf(`${CHATS}/${name}`),
  };
}

/**
 * Returns the chat with the id used in the stored data. A Telegram group that became a supergroup is stored under its
 * first known id.
 */
export function storedChat(tenant: TenantId, database: DatabaseSync | undefined): TenantChat {
  const chat = chatOfTenant(tenant);
  const row = database && hasTable(database, "chat_moves") && previousIdRow(database, chat);
  return row ? { ...chat, chat: String(row["former"]) } : chat;
}

function previousIdRow(database: DatabaseSync, { platform, chat }: TenantChat) {
  return database
    .prepare("SELECT former FROM chat_moves WHERE platform = ? AND chat = ?")
    .get(platform, chat);
}

/**
 * Returns SQL conditions that select a chat's rows, by table. A table without a condition holds data of the whole
 * deployment, or was added by a later version of the gateway. `of` is the schema name of the source database.
 */
export function conditionsOf({ platform, chat }: TenantChat, of: string): Record<string, string> {
  const [ours, own, where] = [text(`${platform}:${chat}`), text(chat), text(platform)];
  // A browser's other conversations are named `<first conversation>:<id>`.
  const others =
    platform === "web" ? ` OR conversation > ${ours} || ':' AND conversation < ${ours} || ';'` : "";
  const conversation = `(conversation = ${ours}${others})`;
  const schedules = `spec ->> '$.to.platform' = ${where} AND spec ->> '$.to.chat' = ${own}`;
  const ownSchedules = `(SELECT id FROM ${of}.schedules WHERE ${schedules})`;
  return {
    messages: conversation,
    sessions: conversation,
    session_context: conversation,
    chat_items: conversation,
    chat_marks: conversation,
    steps: conversation,
    tool_calls: `step IN (SELECT seq FROM ${of}.steps WHERE ${conversation})`,
    schedules,
    schedule_runs: `schedule IN ${ownSchedules}`,
    deliveries: `platform = ${where} AND (chat = ${own}
      OR id IN (SELECT delivery FROM ${of}.messages WHERE ${conversation})
      OR id IN (SELECT delivery FROM ${of}.session_context WHERE ${conversation})
      OR id IN (SELECT 'schedule:' || schedule || ':' || due_at FROM ${of}.schedule_runs
        WHERE schedule IN ${ownSchedules}))`,
    chat_moves: `platform = ${where} AND former = ${own}`,
    // The table names the person who may press a button, but not the chat. Copy the buttons of people who write only
    // in this chat.
    chat_actions: `platform = ${where} AND action ->> '$.does' IN ('say', 'file')
      AND by IN (SELECT sender FROM ${of}.messages WHERE ${conversation})
      AND by NOT IN (SELECT sender FROM ${of}.messages WHERE sender IS NOT NULL AND NOT ${conversation})`,
    spending: `who = ${text(`chat ${platform} ${chat}`)}`,
    retention: "1",
  };
}

/** SQL statements that recompute tables of totals, by table name. Normally, triggers maintain these tables. */
const SUMS: Readonly<Record<string, string>> = {
  session_totals:
    "INSERT INTO session_totals SELECT 1, (SELECT count(*) FROM sessions), (SELECT count(*) FROM messages)",
  delivery_totals:
    "INSERT INTO delivery_totals SELECT 1, (SELECT count(*) FROM deliveries WHERE answered = 1)",
  message_days: `INSERT INTO message_days SELECT date(at / 1000, 'unixepoch') AS day,
    sum(role = 'user'), sum(role = 'assistant') FROM messages GROUP BY day`,
  retention: "UPDATE retention SET messages = 0, sessions = 0",
};

export function recomputeSums(database: DatabaseSync): void {
  for (const [table, sum] of Object.entries(SUMS)) if (hasTable(database, table)) database.exec(sum);
}

/** Table in a tenant's copied database: time of the copy, last copied message, and digests of the copied files. */
export const ORIGIN_TABLE = "chat_origin";

/**
 * Returns the part of a data directory that one chat's sandbox needs. It omits the approvals, which each gateway gets
 * from the tenant directory.
 */
export async function chatPart(home: string, tenant: TenantId, now: number): Promise<StatePart> {
  const chat = withDatabase(home, (database) => storedChat(tenant, database));
  const { shared, own, ownHistory } = chatFoldersOf(chat);
  const digests = [...(await digestsBelow(home, shared)), ...(await digestsBelow(home, own))];
  return {
    roots: [CONFIG_FILE, shared, own, ownHistory, STATE_FILE],
    copyTables(from, to) {
      copyTables(from, to, conditionsOf(chat, "source"));
      const copy = new DatabaseSync(to);
      try {
        recomputeSums(copy);
        copy.exec(
          `DROP TABLE IF EXISTS ${ORIGIN_TABLE};
           CREATE TABLE ${ORIGIN_TABLE} (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
           INSERT INTO ${ORIGIN_TABLE} SELECT 'seq', coalesce(max(seq), 0) FROM messages;
           INSERT INTO ${ORIGIN_TABLE} VALUES ('at', '${now}')`,
        );
        const insert = copy.prepare(`INSERT INTO ${ORIGIN_TABLE} VALUES (?, ?)`);
        for (const [name, digest] of digests) insert.run(`file ${name}`, digest);
      } finally {
        copy.close();
      }
    },
  };
}

/** Lists the tenants in a data directory. */
export async function chatsIn(home: string): Promise<ChatsReport> {
  const tenants = new Set<TenantId>();
  const scheduled = new Set<TenantId>();
  const add = (platform: string, chat: string, to = tenants): void => {
    const tenant = tenantOf({ platform: platform as TenantChat["platform"], chat });
    if (isTenantId(tenant)) to.add(tenant);
  };
  for (const { platform, chat } of destinationsIn(
    await unlessGone(readFile(join(home, CONFIG_FILE), "utf8")),
  ))
    add(platform, chat, scheduled);
  const folders = (await unlessGone(readdir(join(home, WORKSPACE_FOLDERS.chats)))) ?? [];
  const broughtBack = withDatabase(home, (database) => {
    const conversations = ["messages", "sessions", "session_context"].map((table) =>
      database && hasTable(database, table) ? `SELECT conversation AS name FROM ${table}` : "SELECT NULL",
    );
    const rows = database?.prepare(conversations.join(" UNION ")).all() ?? [];
    for (const name of [...rows.map((row) => String(row["name"])), ...folders]) {
      const [, platform, chat] = PLATFORM_CHAT.exec(name) ?? [];
      // All conversations of a browser (`<device id>:<conversation>`) belong to one tenant.
      if (platform !== undefined && chat !== undefined)
        add(platform, platform === "web" ? (chat.split(":", 1)[0] ?? "") : chat);
    }
    if (database === undefined || !hasTable(database, "schedules")) return {};
    const destinations = `SELECT spec ->> '$.to.platform' AS platform, spec ->> '$.to.chat' AS chat, next_at
      FROM schedules`;
    for (const { platform, chat, next_at: next } of database.prepare(destinations).all()) {
      add(String(platform), String(chat));
      // A finished or disabled schedule has no next time.
      if (next !== null) add(String(platform), String(chat), scheduled);
    }
    // Add the new ids of groups that became supergroups, because their events carry these ids.
    for (const { platform, chat } of database.prepare("SELECT platform, chat FROM chat_moves").all())
      add(String(platform), String(chat));
    return mergedVersions(database);
  });
  const shared = await hasFiles(home, WORKSPACE_FOLDERS.shared);
  return { tenants: [...tenants].sort(), scheduled: [...scheduled].sort(), shared, broughtBack };
}

async function hasFiles(home: string, folder: string): Promise<boolean> {
  for await (const { stats } of contentBelow(home, folder)) if (stats.isFile()) return true;
  return false;
}

/** Chat that receives the messages of a schedule or of the heartbeat. */
const address = z.object({ platform: z.string(), chat: z.string() });
const scheduling = z.object({
  schedules: z._default(z.record(z.string(), z.object({ to: address })), {}),
  agent: z._default(z.object({ heartbeat: z.optional(z.object({ to: address })) }), {}),
});

function destinationsIn(config: string | undefined): z.infer<typeof address>[] {
  const { data } = scheduling.safeParse(parseJson(config ?? ""));
  if (data === undefined) return [];
  const { heartbeat } = data.agent;
  return [...Object.values(data.schedules), ...(heartbeat ? [heartbeat] : [])].map(({ to }) => to);
}

export type BroughtBack = Readonly<Record<string, string>>;

/** Name of the row with the version of the last merged approvals; no tenant has this name. */
export const APPROVALS = "approvals";

/** Table that records the last merged version of the approvals and of each tenant's data. */
export const BROUGHT_BACK_TABLE = "brought_back";

function mergedVersions(database: DatabaseSync): BroughtBack {
  if (!hasTable(database, BROUGHT_BACK_TABLE)) return {};
  const rows = database.prepare(`SELECT name, version FROM ${BROUGHT_BACK_TABLE}`).all();
  return Object.fromEntries(rows.map(({ name, version }) => [String(name), String(version)]));
}

/** Returns the SHA-256 digests of a folder's files. Keys are paths relative to the data directory. */
export async function digestsBelow(home: string, folder: string): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  for await (const { name, path, stats } of contentBelow(home, folder)) {
    const content = stats.isFile() ? await unlessGone(readFile(path)) : undefined;
    if (content !== undefined) digests.set(name, createHash("sha256").update(content).digest("hex"));
  }
  return digests;
}

export function hasTable(database: DatabaseSync, table: string): boolean {
  return (
    database.prepare("SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?").get(table) !==
    undefined
  );
}

function withDatabase<T>(home: string, work: (database: DatabaseSync | undefined) => T): T {
  const path = join(home, STATE_FILE);
  if (!exists(path)) return work(undefined);
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
