import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { mergeTenant, replaceApprovals } from "../../../runtime/backups/archive/merge-tenant.ts";
import { chatPart, chatsIn } from "../../../runtime/backups/archive/chat-part.ts";
import { makeGeneration } from "../../../runtime/backups/archive/generation.ts";
import { BackupDirectory } from "../../../runtime/backups/archive/backup-directory.ts";
import { unpackArchive } from "../../../runtime/backups/archive/unpack.ts";
import { addSchedule, removeSchedule } from "../../../runtime/gateway/schedules/port.ts";
import { openStores, type Stores } from "../../../runtime/gateway/stores.ts";
import { temporaryDirectory } from "../support/processes.ts";

const NOW = Date.parse("2026-11-20T10:00:00Z");
const LATER = NOW + 1_000_000;
const log = { debug() {}, info() {}, warn() {}, error() {} };
const PLAN = { enabled: true, every: "1h", to: { platform: "slack", chat: "C1" }, sendElsewhere: [] };
type Plan = Parameters<typeof addSchedule>[2];

async function inHome(home: string, at: number, work: (stores: Stores) => unknown): Promise<void> {
  const stores = openStores({ home, clock: () => at, log });
  await work(stores);
  stores.database.close();
}
let count = 0;
/** Adds a question and its answer. */
function say({ sessions, records }: Stores, session: string, text: string, at: number): void {
  const delivery = `Ev${(count += 1)}`;
  sessions.ask({ session, messages: [{ delivery, sender: { id: "U1" }, text }], group: false, at });
  sessions.keepAnswer(session, [delivery], `re ${text}`, at + 1);
  records.answer("slack", [delivery], at + 1);
}
async function write(home: string, name: string, text: string): Promise<void> {
  await mkdir(join(home, name, ".."), { recursive: true });
  await writeFile(join(home, name), text);
}
const read = (home: string, name: string): Promise<string> => readFile(join(home, name), "utf8");
function rows(home: string, statement: string) {
  const database = new DatabaseSync(join(home, "state.db"));
  try {
    return database.prepare(statement).all();
  } finally {
    database.close();
  }
}
const texts = (home: string, session = "slack:C1"): unknown[] =>
  rows(home, `SELECT text FROM messages WHERE conversation = '${session}' ORDER BY seq`).map(
    ({ text }) => text,
  );

/** A state that served two chats, and the part of one of them in a directory of its own. */
async function parted() {
  const home = await temporaryDirectory();
  await inHome(home, NOW, async (stores) => {
    say(stores, "slack:C1", "one", NOW);
    say(stores, "slack:C2", "other", NOW + 5);
    for (const text of ["keep", "drop"])
      await addSchedule(stores.schedules, "chat", { ...PLAN, text } as Plan, NOW);
  });
  await write(home, "workspace/HOUSE.md", "rules");
  await write(home, "workspace-chats/slack-C1/plan.md", "plan");
  const target = join(await temporaryDirectory(), "tenant");
  const backupDirectory = new BackupDirectory(home);
  const id = "00000001-00000000";
  const part = await chatPart(home, "slack-C1", NOW + 100);
  await backupDirectory.runExclusively(() =>
    makeGeneration({ home, backupDirectory, id, environment: {}, part, clock: () => NOW }),
  );
  await unpackArchive(await backupDirectory.read({ id }), target);
  const back = async (version = "00000002-00000001"): Promise<void> => {
    // A merge moves files out of its directory.
    const directory = join(await temporaryDirectory(), "copy");
    await cp(target, directory, { recursive: true });
    await mergeTenant(home, { tenant: "slack-C1", id: version, directory });
  };
  return { home, tenant: target, back };
}

test("what a chat has said, planned and written in its own sandbox comes back", async () => {
  const { home, tenant, back } = await parted();
  await inHome(tenant, LATER, async (stores) => {
    say(stores, "slack:C1", "two", LATER);
    stores.sessions.setModel("slack:C1", "anthropic/other");
    const drop = stores.schedules.list().find(({ spec }) => spec.text === "drop");
    removeSchedule(stores.schedules, drop?.id ?? "");
    await addSchedule(stores.schedules, "chat", { ...PLAN, text: "new" } as Plan, LATER);
  });
  await write(tenant, "workspace/HOUSE.md", "better rules");
  await write(tenant, "workspace-chats/slack-C1/plan.md", "better plan");
  await write(tenant, "workspace-chats/slack-C1/more.md", "more");
  await write(tenant, "workspace-chats/slack-C2/stolen.md", "of another chat");
  await write(tenant, "workspace-history/chats/slack-C1/ab/1.agent", "plan");

  for (let attempts = 0; attempts < 2; attempts += 1) {
    await back();
    expect(texts(home)).toEqual(["one", "re one", "two", "re two"]);
    expect(texts(home, "slack:C2")).toEqual(["other", "re other"]);
    expect(rows(home, "SELECT conversations, messages FROM session_totals")).toEqual([
      { conversations: 2, messages: 6 },
    ]);
    expect(rows(home, "SELECT messages, model FROM sessions WHERE conversation = 'slack:C1'")).toEqual([
      { messages: 4, model: "anthropic/other" },
    ]);
    expect(rows(home, "SELECT answered FROM delivery_totals")).toEqual([{ answered: 3 }]);
    const plans = rows(home, "SELECT spec ->> '$.text' AS text FROM schedules ORDER BY text");
    expect(plans.map(({ text }) => text)).toEqual(["keep", "new"]);
    expect(await read(home, "workspace/HOUSE.md")).toBe("better rules");
    expect(await read(home, "workspace-chats/slack-C1/plan.md")).toBe("better plan");
    expect(await read(home, "workspace-chats/slack-C1/more.md")).toBe("more");
    expect(await read(home, "workspace-history/chats/slack-C1/ab/1.agent")).toBe("plan");
    await expect(read(home, "workspace-chats/slack-C2/stolen.md")).rejects.toThrow("ENOENT");
  }
  expect((await chatsIn(home)).broughtBack).toEqual({ "slack-C1": "00000002-00000001" });
  await inHome(home, LATER, (stores) => {
    say(stores, "slack:C1", "three", LATER + 10);
    expect(stores.sessions.size("slack:C1")).toBe(6);
  });
  expect(texts(home).slice(-2)).toEqual(["three", "re three"]);
});

test("what was said on both sides is ordered by time, and a file of both is kept twice", async () => {
  const { home, tenant, back } = await parted();
  await inHome(tenant, LATER, (stores) => {
    say(stores, "slack:C1", "there", LATER);
    stores.sessions.summarise("slack:C1", "summary", 2);
  });
  await inHome(home, LATER, async (stores) => {
    say(stores, "slack:C1", "before", LATER - 100);
    say(stores, "slack:C1", "after", LATER + 100);
    await addSchedule(stores.schedules, "chat", { ...PLAN, text: "late" } as Plan, LATER);
  });
  await write(tenant, "workspace/HOUSE.md", "their rules");
  await write(home, "workspace/HOUSE.md", "our rules");
  await back();
  expect(texts(home)).toEqual([
    "one",
    "re one",
    "before",
    "re before",
    "there",
    "re there",
    "after",
    "re after",
  ]);
  expect(rows(home, "SELECT messages, summary FROM sessions WHERE conversation = 'slack:C1'")).toEqual([
    { messages: 8, summary: "summary" },
  ]);
  const plans = rows(home, "SELECT spec ->> '$.text' AS text FROM schedules ORDER BY text");
  expect(plans.map(({ text }) => text)).toEqual(["drop", "keep", "late"]);
  expect(await read(home, "workspace/HOUSE.md")).toBe("our rules");
  expect(await read(home, "workspace-chats/slack-C1/brought-back/00000002-00000001/workspace/HOUSE.md")).toBe(
    "their rules",
  );
});

test("rows of other chats in a tenant's backup count for nothing", async () => {
  const { home, tenant, back } = await parted();
  await inHome(tenant, LATER, async (stores) => {
    say(stores, "slack:C2", "forged", LATER);
    const to = { platform: "slack", chat: "C2" };
    await addSchedule(stores.schedules, "chat", { ...PLAN, to, text: "forged" } as Plan, LATER);
  });
  await back();
  expect(texts(home, "slack:C2")).toEqual(["other", "re other"]);
  expect(rows(home, "SELECT count(*) AS n FROM schedules")).toEqual([{ n: 2 }]);
});

test("a deployment that has had one sandbox for no time begins with what the chats have", async () => {
  const { tenant } = await parted();
  const home = await temporaryDirectory();
  await mergeTenant(home, { tenant: "slack-C1", id: "00000002-00000001", directory: tenant });
  expect(texts(home)).toEqual(["one", "re one"]);
  await inHome(home, LATER, (stores) => {
    expect(stores.sessions.counts()).toMatchObject({ conversations: 1, messages: 2 });
    expect(stores.schedules.list()).toHaveLength(2);
  });
});

test("approvals are replaced once by those that the directory kept", async () => {
  const { home } = await parted();
  await write(home, "credentials/slack-allowFrom.json", '{"version":1,"allowFrom":["UOLD"]}');
  const approvals = (version: string, allowFrom: string[]) => ({
    version,
    platforms: { slack: { allowFrom, operators: allowFrom.slice(1) } },
  });
  const approved = async () => {
    let lists: unknown;
    await inHome(home, LATER, ({ pairing }) => {
      lists = [pairing("slack").approved(), pairing("slack").operators()];
    });
    return lists;
  };
  replaceApprovals(home, approvals("2026-11-20T10:00:00Z", ["UANN", "UBOB"]));
  expect(await approved()).toEqual([["UANN", "UBOB"], ["UBOB"]]);
  await inHome(home, LATER, ({ pairing }) => pairing("slack").grant("UCAT", "person"));
  replaceApprovals(home, approvals("2026-11-20T10:00:00Z", ["UANN", "UBOB"]));
  expect(await approved()).toEqual([["UANN", "UBOB", "UCAT"], ["UBOB"]]);
  replaceApprovals(home, approvals("2026-11-21T10:00:00Z", []));
  expect(await approved()).toEqual([[], []]);
});

test("codes that the directory has given let their senders in; those of a version without them stay", async () => {
  const { home } = await parted();
  const createdAt = new Date(LATER - 60_000).toISOString();
  const requests = [{ id: "UANN", code: "ANNSCODE", createdAt, lastSeenAt: createdAt }];
  const platforms = { slack: { allowFrom: [], operators: [], requests } };
  replaceApprovals(home, { version: "2026-11-20T10:00:00Z", platforms });
  replaceApprovals(home, {
    version: "2026-11-20T11:00:00Z",
    platforms: { slack: { allowFrom: [], operators: [] } },
  });
  await inHome(home, LATER, ({ pairing }) => {
    expect(pairing("slack").approve("annscode")).toMatchObject({ id: "UANN" });
    expect(pairing("slack").approved()).toEqual(["UANN"]);
  });
  replaceApprovals(home, {
    version: "2026-11-20T12:00:00Z",
    platforms: { slack: { allowFrom: ["UANN"], operators: [], requests: [] } },
  });
  await inHome(home, LATER, ({ pairing }) => expect(pairing("slack").pending()).toEqual([]));
});
