import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { chatPart, chatsIn } from "../../../runtime/backups/archive/chat-part.ts";
import { makeGeneration } from "../../../runtime/backups/archive/generation.ts";
import { BackupDirectory } from "../../../runtime/backups/archive/backup-directory.ts";
import { copyTables } from "../../../runtime/backups/archive/tables.ts";
import { unpackArchive } from "../../../runtime/backups/archive/unpack.ts";
import { openStores } from "../../../runtime/gateway/stores.ts";
import { addSchedule } from "../../../runtime/gateway/schedules/port.ts";
import { Retention } from "../../../runtime/gateway/sessions/retention.ts";
import { temporaryDirectory } from "../support/processes.ts";
import { filesBelow } from "../../support/leaks.ts";

const NOW = Date.parse("2026-11-20T10:00:00Z");
const ID = "00000003-00000000";
const log = { debug() {}, info() {}, warn() {}, error() {} };

/** A data directory in which two channels, a direct chat and a group that moved have talked. */
async function talked(): Promise<string> {
  const home = await temporaryDirectory();
  const stores = openStores({ home, clock: () => NOW, log });
  void new Retention({ database: stores.database, rules: () => ({}), clock: () => NOW, log });
  let count = 0;
  const say = (session: string, sender: string, words: string): void => {
    const delivery = `Ev${(count += 1)}`;
    const at = NOW + count;
    const platform = session.startsWith("slack") ? "slack" : "telegram";
    const message = { delivery, sender: { id: sender }, text: words };
    stores.sessions.ask({ session, messages: [message], group: true, at });
    stores.sessions.keepAnswer(session, [delivery], `answer to ${words}`, at);
    stores.records.answer(platform, [delivery], at);
    stores.sessions.addContext(
      session,
      { delivery: `x${delivery}`, sender: { id: sender }, text: `aside ${words}`, at },
      5,
    );
    stores.spending.add([`chat ${platform} ${session.split(":")[1]}`], 5, at);
  };
  say("slack:C1", "U1", "apricot");
  say("slack:C2", "U1", "quince");
  say("slack:C2", "U2", "quince two");
  say("telegram:-5", "9", "damson");
  stores.moves.note("-5", "-1005");
  const offer = (by: string, words: string): void => {
    const choices = [{ label: words, action: { does: "say", text: words } }] as const;
    stores.actions.offer({ platform: "slack", by, choices, expiresAt: NOW + 1e9 });
  };
  offer("U1", "of someone in both");
  offer("U2", "of quince's alone");
  for (const chat of ["C1", "C2"])
    await addSchedule(
      stores.schedules,
      "chat",
      { enabled: true, every: "1h", to: { platform: "slack", chat }, text: `plan ${chat}` } as Parameters<
        typeof addSchedule
      >[2],
      NOW,
    );
  stores.schedules.runNow(stores.schedules.list()[0]?.id ?? "", NOW);
  stores.database.close();
  const write = async (name: string, text: string): Promise<void> => {
    await mkdir(join(home, name, ".."), { recursive: true });
    await writeFile(join(home, name), text);
  };
  await write("steward.json", "{}");
  await write("workspace/AGENTS.md", "for everyone");
  await write("workspace-chats/slack-C1/plan.md", "apricot plan");
  await write("workspace-chats/slack-C2/plan.md", "quince plan");
  await write("workspace-chats/slack-C3/plan.md", "no words");
  await write("workspace-history/chats/slack-C2/ab/1.agent", "quince before");
  await write("workspace-history/shared/ab/1.agent", "shared before");
  await write("credentials/slack-allowFrom.json", '{"version":1,"allowFrom":["U1","U2"]}');
  await write("devices/paired.json", '{"paired":1}');
  return home;
}

async function exported(home: string, tenant: string) {
  const backupDirectory = new BackupDirectory(home);
  const part = await chatPart(home, tenant, NOW);
  const manifest = await backupDirectory.runExclusively(() =>
    makeGeneration({ home, backupDirectory, id: ID, environment: {}, part, clock: () => NOW }),
  );
  const target = join(await temporaryDirectory(), "unpacked");
  await unpackArchive(await backupDirectory.read({ id: ID }), target);
  const files = await filesBelow(target);
  const database = new DatabaseSync(join(target, "state.db"));
  const rows = (statement: string) => database.prepare(statement).all();
  return { manifest, files: files.map(([name]) => name.slice(target.length + 1)).sort(), rows, target };
}

test("the chats of a state are those with words, schedules or files; a moved group has both ids", async () => {
  const home = await talked();
  expect(await chatsIn(home)).toMatchObject({
    tenants: ["slack-C1", "slack-C2", "slack-C3", "telegram--1005", "telegram--5"],
    broughtBack: {},
    shared: true,
  });
  const nothing = { tenants: [], scheduled: [], broughtBack: {}, shared: false };
  expect(await chatsIn(await temporaryDirectory())).toEqual(nothing);
});

test("a browser's part has all of its conversations, and none of another browser", async () => {
  const home = await talked();
  const stores = openStores({ home, clock: () => NOW, log });
  const [device, other] = ["d".repeat(64), "e".repeat(64)];
  for (const session of [`web:${other}`, `web:${device}:conversation-2`, `web:${device}:conversation-3`]) {
    const message = { delivery: `say ${session}`, sender: { id: device }, text: session };
    stores.sessions.ask({ session, messages: [message], group: false, at: NOW });
  }
  stores.database.close();
  const { tenants } = await chatsIn(home);
  expect(tenants.filter((tenant) => tenant.startsWith("web"))).toEqual([`web-${device}`, `web-${other}`]);
  const { rows } = await exported(home, `web-${device}`);
  expect(rows("SELECT conversation FROM sessions ORDER BY conversation")).toEqual([
    { conversation: `web:${device}:conversation-2` },
    { conversation: `web:${device}:conversation-3` },
  ]);
});

test("chats with a schedule are those of the state and of the config, also one that has never written", async () => {
  const home = await talked();
  const { scheduled } = await chatsIn(home);
  expect(scheduled.length).toBeGreaterThan(0);
  const to = (platform: string, chat: string) => ({ to: { platform, chat } });
  const config = {
    schedules: { report: { cron: "0 8 * * *", text: "report", ...to("slack", "CNEW") } },
    agent: { heartbeat: { every: "1h", ...to("telegram", "77") } },
  };
  await writeFile(join(home, "steward.json"), JSON.stringify(config));
  expect((await chatsIn(home)).scheduled).toEqual([...scheduled, "slack-CNEW", "telegram-77"].sort());
  // The gateway refuses a broken config; the state's own schedules are still known.
  await writeFile(join(home, "steward.json"), '{"schedules": {"report": {"to": "slack:CNEW"}}}');
  expect((await chatsIn(home)).scheduled).toEqual(scheduled);
});

test("a chat's part has its rows and files, those of the deployment, and no word of another chat", async () => {
  const home = await talked();
  const { manifest, files, rows, target } = await exported(home, "slack-C2");
  expect(files).toEqual([
    "state.db",
    "steward.json",
    "workspace-chats/slack-C2/plan.md",
    "workspace-history/chats/slack-C2/ab/1.agent",
    "workspace/AGENTS.md",
  ]);
  expect(manifest.counts).toEqual({ files: 5, sessions: 1, messages: 4, schedules: 1, approvals: 0 });
  expect(rows("SELECT text FROM messages ORDER BY seq").map(({ text }) => text)).toEqual([
    "quince",
    "answer to quince",
    "quince two",
    "answer to quince two",
  ]);
  expect(rows("SELECT conversation, messages FROM sessions")).toEqual([
    { conversation: "slack:C2", messages: 4 },
  ]);
  expect(rows("SELECT conversations, messages FROM session_totals")).toEqual([
    { conversations: 1, messages: 4 },
  ]);
  expect(rows("SELECT received, answered FROM message_days")).toEqual([{ received: 2, answered: 2 }]);
  expect(rows("SELECT answered FROM delivery_totals")).toEqual([{ answered: 2 }]);
  expect(rows("SELECT label FROM chat_actions")).toEqual([{ label: "of quince's alone" }]);
  expect(rows("SELECT who FROM spending")).toEqual([{ who: "chat slack C2" }]);
  expect(rows("SELECT spec ->> '$.text' AS text FROM schedules")).toEqual([{ text: "plan C2" }]);
  expect(rows("SELECT messages FROM retention")).toEqual([{ messages: 0 }]);
  expect(rows("SELECT name FROM chat_origin WHERE name LIKE 'file%'").map(({ name }) => name)).toEqual([
    "file workspace-chats/slack-C2/plan.md",
    "file workspace/AGENTS.md",
  ]);
  const everything = await Promise.all(files.map((name) => readFile(join(target, name), "latin1")));
  const others = ["apricot", "damson", "plan C1", "paired"];
  expect(others.filter((word) => everything.join().includes(word))).toEqual([]);
});

test("a group that became a supergroup is known by its present id, and keeps the first one", async () => {
  const { rows, files } = await exported(await talked(), "telegram--1005");
  expect(rows("SELECT DISTINCT conversation FROM messages")).toEqual([{ conversation: "telegram:-5" }]);
  expect(rows("SELECT former, chat FROM chat_moves")).toEqual([{ former: "-5", chat: "-1005" }]);
  expect(files).not.toContain("workspace-chats/slack-C1/plan.md");
});

test("a chat that has never written begins with the files that every chat may read, and nothing else", async () => {
  const { files, rows, manifest } = await exported(await talked(), "slack-CNEW");
  expect(files).toEqual(["state.db", "steward.json", "workspace/AGENTS.md"]);
  expect(manifest.counts).toEqual({ files: 3, sessions: 0, messages: 0, schedules: 0, approvals: 0 });
  for (const table of ["messages", "session_context", "deliveries", "chat_actions", "chat_moves", "spending"])
    expect([table, rows(`SELECT * FROM ${table}`)]).toEqual([table, []]);
});

test("a gateway goes on with a chat's part", async () => {
  const { target } = await exported(await talked(), "slack-C1");
  const { sessions, schedules, database } = openStores({ home: target, clock: () => NOW, log });
  expect(sessions.counts()).toMatchObject({ conversations: 1, messages: 2 });
  expect(schedules.list()).toHaveLength(1);
  sessions.append({ session: "slack:C1", delivery: "EvNew", role: "user", text: "more", at: NOW });
  expect(sessions.counts()).toMatchObject({ conversations: 1, messages: 3 });
  database.close();
});

test("a copy keeps nobody from writing, and has nothing that is written meanwhile", async () => {
  const home = await talked();
  const [live, copy] = [join(home, "state.db"), join(await temporaryDirectory(), "copy.db")];
  const gateway = new DatabaseSync(live, { timeout: 0 });
  let writes = 0;
  const write = (): string => {
    writes += 1;
    for (const table of ["messages", "sessions", "deliveries"]) gateway.exec(`DELETE FROM ${table}`);
    return "1";
  };
  const everything = new Proxy({}, { get: write });
  const count = (database: DatabaseSync, table: string) =>
    database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"];
  copyTables(live, copy, everything);
  expect(writes).toBeGreaterThan(3);
  const copied = new DatabaseSync(copy);
  const counts = ["messages", "sessions", "deliveries"].map((table) => [
    count(copied, table),
    count(gateway, table),
  ]);
  expect(counts).toEqual([
    [8, 0],
    [3, 0],
    [4, 0],
  ]);
  copied.close();
  gateway.close();
});
