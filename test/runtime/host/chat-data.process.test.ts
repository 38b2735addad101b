import { chmod, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { runtimeProgramFile } from "../../../runtime/process/programs.ts";
import { inHome, say, servedAll, texts, write } from "../../support/chat-data.ts";
import { filesBelow, textOf } from "../../support/leaks.ts";

const NOT_RUNNING = (): boolean => false;
const read = (folder: string, name: string): Promise<string> => readFile(path.join(folder, name), "utf8");
const contentOf = async (folder: string): Promise<string> =>
  (await filesBelow(folder)).map(([name, content]) => name + textOf(content)).join("\n");

test("a chat gets its conversation, files and schedules, and no word of another chat", async () => {
  const { home, folder, chatData } = await servedAll();
  const before = await contentOf(path.join(home, "workspace-chats"));
  const data = chatData();
  expect(data.begin("slack-C1")).toBe(false);
  await Promise.all([data.prepare("slack-C1"), data.prepare("slack-C1"), data.prepare("slack-C2")]);
  for (const [chat, other] of [
    ["C1", "C2"],
    ["C2", "C1"],
  ] as const) {
    const own = folder(`slack-${chat}`);
    expect(texts(own, `slack:${chat}`)).toEqual([`hello ${chat}`, `re hello ${chat}`]);
    expect(await read(own, `workspace-chats/slack-${chat}/plan.md`)).toBe(`file of ${chat}`);
    expect(await read(own, "workspace/HOUSE.md")).toBe("rules");
    const content = await contentOf(own);
    expect(content).toContain(`plan ${chat}`);
    for (const word of [`hello ${other}`, `file of ${other}`, `plan ${other}`])
      expect(content).not.toContain(word);
  }
  // The deployment's state stays as it is.
  expect(await contentOf(path.join(home, "workspace-chats"))).toBe(before);
  expect(texts(home, "slack:C1")).toEqual(["hello C1", "re hello C1"]);
});

test("a chat that the deployment does not know begins with nothing", async () => {
  const { folder, chatData } = await servedAll();
  const data = chatData();
  await data.prepare("slack-C9");
  await expect(readdir(folder("slack-C9"))).rejects.toThrow("ENOENT");
  expect(data.begin("slack-C9")).toBe(true);
});

test("what a chat has said since its move is not replaced by another move", async () => {
  const { folder, chatData } = await servedAll();
  await chatData().prepare("slack-C1");
  const data = chatData();
  await data.prepare("slack-C1");
  data.begin("slack-C1");
  await inHome(folder("slack-C1"), (stores) => say(stores, "slack:C1", "later"));
  // The process was killed: nothing is copied yet.
  const next = chatData();
  expect(next.changed).toEqual(["slack-C1"]);
  await next.prepare("slack-C1");
  expect(texts(folder("slack-C1"), "slack:C1")).toContain("later");
  await next.copyChanged(NOT_RUNNING);
  expect(next.changed).toEqual([]);
  await chatData().prepare("slack-C1");
  expect(texts(folder("slack-C1"), "slack:C1")).toContain("later");
});

test("a folder from before chats had backups stays the chat's", async () => {
  const { folder, chatData } = await servedAll();
  await write(folder("slack-C1"), "workspace/own.md", "its own");
  await chatData().prepare("slack-C1");
  expect(await read(folder("slack-C1"), "workspace/own.md")).toBe("its own");
});

test("a move that ends at any step is completed by the next one", async () => {
  const { home, folder, backupDirectory, open, chatData } = await servedAll();
  const broken = path.join(home, "broken.sh");
  await writeFile(broken, "#!/bin/sh\nhead -c 700 >/dev/null\nkill -9 $$\n");
  await chmod(broken, 0o755);
  await expect(chatData([broken]).prepare("slack-C1")).rejects.toThrow("SIGKILL");
  expect(backupDirectory.read("slack-C1", "placing")).toBe("00000001-00000000");
  expect(chatData([broken]).begin("slack-C1")).toBe(false);

  // Cut off while the archive arrives.
  const cut = path.join(home, "cut.sh");
  await writeFile(
    cut,
    `#!/bin/sh\nhead -c 800 | "${process.execPath}" "${runtimeProgramFile("host/chat-state/main")}" "$@"\n`,
  );
  await chmod(cut, 0o755);
  await expect(chatData([cut]).prepare("slack-C1")).rejects.toThrow(/archive|copy/i);
  await chatData().prepare("slack-C1");
  expect(texts(folder("slack-C1"), "slack:C1")).toEqual(["hello C1", "re hello C1"]);
  expect(backupDirectory.read("slack-C1", "placing")).toBeUndefined();
  expect((await readdir(folder("slack-C1"))).filter((name) => name.startsWith(".restore"))).toEqual([]);

  // Stored, and not placed yet.
  const id = "00000001-00000000";
  await (await open(backupDirectory.of("slack-C2"))).writeChat("slack-C2", id);
  await chatData().prepare("slack-C2");
  expect(texts(folder("slack-C2"), "slack:C2")).toEqual(["hello C2", "re hello C2"]);
});

test("a copy is made while the gateway runs, and again after its end", async () => {
  const { folder, backupDirectory, chatData } = await servedAll();
  const data = chatData();
  await data.prepare("slack-C1");
  data.begin("slack-C1");
  expect((await data.copy("slack-C1", () => true)).id).toBe("00000001-00000001");
  expect(data.changed).toEqual(["slack-C1"]);
  await inHome(folder("slack-C1"), (stores) => say(stores, "slack:C1", "later"));
  await data.copyChanged(() => true);
  expect(data.changed).toEqual(["slack-C1"]);
  await data.copyChanged(NOT_RUNNING);
  expect([data.changed, backupDirectory.changed()]).toEqual([[], []]);
  const [newest] = await (await data.store("slack-C1")).list();
  expect(newest).toMatchObject({ id: "00000001-00000002", counts: { messages: 4 } });
});

test("a run that begins during a copy is copied later", async () => {
  const { backupDirectory, chatData } = await servedAll();
  const data = chatData();
  await data.prepare("slack-C1");
  data.begin("slack-C1");
  const copied = data.copy("slack-C1", NOT_RUNNING);
  await expect.poll(() => backupDirectory.read("slack-C1", "changed")).toEqual(expect.any(String));
  data.begin("slack-C1");
  await copied;
  expect(data.changed).toEqual(["slack-C1"]);
});

test("a chat's data is restored from one of its backups, and a lost folder from the newest", async () => {
  const { folder, chatData } = await servedAll();
  const data = chatData();
  const own = folder("slack-C1");
  await data.prepare("slack-C1");
  data.begin("slack-C1");
  await inHome(own, (stores) => say(stores, "slack:C1", "later"));
  let stopped = 0;
  await data.restore("slack-C1", "00000001-00000000", async () => void (stopped += 1));
  expect([stopped, texts(own, "slack:C1")]).toEqual([1, ["hello C1", "re hello C1"]]);
  // The restored state is the one that is copied next.
  expect(data.changed).toEqual(["slack-C1"]);
  await data.restore("slack-C1", "00000001-00000001", async () => {});
  expect(texts(own, "slack:C1")).toContain("later");
  await data.copyChanged(NOT_RUNNING);
  await rm(own, { recursive: true });
  await chatData().prepare("slack-C1");
  expect(texts(own, "slack:C1")).toContain("later");
});

test("a chat's copy that is not a backup is refused, and nothing of it remains", async () => {
  const { home, backupDirectory, chatData } = await servedAll();
  const lying = path.join(home, "lying.sh");
  await writeFile(lying, "#!/bin/sh\necho '{}'\n");
  await chmod(lying, 0o755);
  await chatData().prepare("slack-C1");
  await expect(chatData([lying]).copy("slack-C1", NOT_RUNNING)).rejects.toThrow(
    "does not begin with a manifest",
  );
  expect(
    (await readdir(backupDirectory.of("slack-C1"))).filter((name) => name.includes("00000001")),
  ).toHaveLength(2);
});

test("data of a later version is replaced by the newest backup that this one reads", async () => {
  const { folder, backupDirectory, chatData } = await servedAll();
  const data = chatData();
  const own = folder("slack-C1");
  await data.prepare("slack-C1");
  data.begin("slack-C1");
  await inHome(own, (stores) => say(stores, "slack:C1", "before the update"));
  await data.copyChanged(NOT_RUNNING);
  // A later version has migrated the data and has copied it.
  data.begin("slack-C1");
  const database = new DatabaseSync(path.join(own, "state.db"));
  database.exec("PRAGMA user_version = 999; CREATE TABLE later (x)");
  database.close();
  const { id } = await data.copy("slack-C1", NOT_RUNNING);
  const manifest = path.join(backupDirectory.of("slack-C1"), `${id}.json`);
  await writeFile(
    manifest,
    JSON.stringify({ ...JSON.parse(await readFile(manifest, "utf8")), agentVersion: "99.0.0" }),
  );

  const next = chatData();
  expect(await next.restoreReadable("slack-C1", async () => {})).toBe("00000001-00000001");
  expect(texts(own, "slack:C1")).toContain("before the update");
  expect(next.begin("slack-C1")).toBe(true);
  await inHome(own, (stores) => say(stores, "slack:C1", "and after"));
});
