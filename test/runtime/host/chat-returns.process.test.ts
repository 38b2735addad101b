import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import type { Reason } from "../../../runtime/contract/errors.ts";
import { startWithChatData } from "../../../runtime/host/tenants/returns.ts";
import type { Supervisor } from "../../../runtime/supervisor/supervisor.ts";
import { inHome, say, servedAll, texts, write } from "../../support/chat-data.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} };
const ONE = { platforms: { slack: { allowFrom: ["UBOB"], operators: [] } } };

/** Chats that have talked in their own folders, and the start of the gateway that serves all again. */
async function apart() {
  const world = await servedAll();
  const { folder, open, chatData } = world;
  const data = chatData();
  for (const chat of ["C1", "C2"]) {
    const tenant = `slack-${chat}`;
    await data.prepare(tenant);
    data.begin(tenant);
    await inHome(folder(tenant), (stores) => say(stores, `slack:${chat}`, `meanwhile ${chat}`));
    await write(folder(tenant), `workspace-chats/${tenant}/new.md`, `new of ${chat}`);
  }
  const begin = async (): Promise<string[]> => {
    const steps: string[] = [];
    const supervisor = {
      backups: open,
      start: () => void steps.push("start"),
      hold: async ({ detail }: Reason) => void steps.push(detail),
      release: () => void steps.push("release"),
    };
    const clock = () => Date.parse("2026-11-21T12:00:00Z");
    await startWithChatData({
      supervisor: supervisor as unknown as Supervisor,
      home: world.home,
      clock,
      log,
    });
    return steps;
  };
  return { ...world, data, begin };
}

test("the gateway starts when the chats' words, files and approvals are back; twice is the same as once", async () => {
  const { home, backupDirectory, data, begin } = await apart();
  await data.copyChanged(() => false);
  backupDirectory.storeApprovals({ version: "2026-11-20T10:00:00.000Z", ...ONE });
  for (let attempts = 0; attempts < 2; attempts += 1) {
    expect((await begin()).slice(-2)).toEqual([expect.stringContaining("is being merged"), "release"]);
    for (const chat of ["C1", "C2"]) {
      const said = [`hello ${chat}`, `re hello ${chat}`, `meanwhile ${chat}`, `re meanwhile ${chat}`];
      expect(texts(home, `slack:${chat}`)).toEqual(said);
      const file = path.join(home, `workspace-chats/slack-${chat}/new.md`);
      expect(await readFile(file, "utf8")).toBe(`new of ${chat}`);
    }
    expect(await readFile(path.join(home, "credentials/slack-allowFrom.json"), "utf8")).toContain("UBOB");
  }
  expect(backupDirectory.servedAllSince).toBe("2026-11-21T12:00:00.000Z");
});

test("the next move takes what was said to the one gateway since", async () => {
  const { home, folder, data, begin, chatData } = await apart();
  await data.copyChanged(() => false);
  await begin();
  await inHome(home, (stores) => say(stores, "slack:C1", "to all"));
  await chatData().prepare("slack-C1");
  expect(texts(folder("slack-C1"), "slack:C1").slice(-2)).toEqual(["to all", "re to all"]);
});

test("a chat that was not copied holds the one gateway; its words are merged when they come", async () => {
  const { home, data, begin } = await apart();
  await data.copy("slack-C1", () => false);
  expect((await begin()).at(-1)).toBe("Not copied: slack-C2.");
  expect(texts(home, "slack:C1")).toContain("meanwhile C1");
  // An operator has started it all the same.
  await inHome(home, (stores) => say(stores, "slack:C2", "without them"));
  await data.copyChanged(() => false);
  expect((await begin()).at(-1)).toBe("release");
  for (const text of ["meanwhile C2", "without them"]) expect(texts(home, "slack:C2")).toContain(text);
});

test("a backup that is broken is passed over for the one before", async () => {
  const { home, folder, backupDirectory, data, begin } = await apart();
  await data.copyChanged(() => false);
  data.begin("slack-C1");
  await inHome(folder("slack-C1"), (stores) => say(stores, "slack:C1", "lost"));
  await data.copyChanged(() => false);
  const archives = (await readdir(backupDirectory.of("slack-C1")))
    .filter((name) => name.endsWith(".zst"))
    .sort();
  await writeFile(path.join(backupDirectory.of("slack-C1"), archives.at(-1) ?? ""), "broken");
  await begin();
  expect(texts(home, "slack:C1")).toContain("meanwhile C1");
  expect(texts(home, "slack:C1")).not.toContain("lost");
});

test("a host whose chats never had gateways of their own starts at once", async () => {
  const { begin } = await servedAll().then(async ({ home, open }) => ({
    begin: async () => {
      const steps: string[] = [];
      const supervisor = { backups: open, start: () => void steps.push("start") };
      await startWithChatData({
        supervisor: supervisor as unknown as Supervisor,
        home,
        clock: Date.now,
        log,
      });
      return steps;
    },
  }));
  expect(await begin()).toEqual(["start"]);
});
