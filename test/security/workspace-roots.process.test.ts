import type { Admission } from "../../runtime/contract/message.ts";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentBench, calls, question } from "../runtime/support/agent.ts";
import { stewardHere } from "../runtime/support/cli.ts";
import { writeConfig } from "../runtime/support/gateway.ts";
import { SECRETS } from "../runtime/support/processes.ts";

const GROUP: Admission = { by: "group", sendElsewhere: [] };
const digest = (text: string) => createHash("sha256").update(text).digest("hex");

/** An agent that does what it is told in a chat, and the operator's command line over the same files. */
async function house() {
  const bench = await agentBench();
  await writeConfig(bench.home);
  const { answer, close } = bench.start();
  let count = 0;
  /** Runs tools in a chat, a group's unless it begins with a D. Returns their results. */
  const inChat = async (chat: string, ...tools: [name: string, input: object][]) => {
    count += 1;
    bench.next(calls(...tools.map(([name, input], index) => ({ id: `c${index}`, name, input }))));
    const direct = chat.startsWith("D");
    const place = { conversation: `slack:${chat}`, target: { chat }, direct };
    const { messages } = question(`Ev${count}`, "do it");
    await answer(
      question("", "", {
        ...place,
        messages: direct ? messages : [{ ...messages[0], admission: GROUP }],
      }),
    );
    const told = bench.asked.at(-1)?.messages.at(-1);
    return told !== undefined && "results" in told ? told.results.map(({ output }) => output) : [];
  };
  const environment = { ...SECRETS, STEWARD_HOME: bench.home };
  const steward = async (...args: string[]) =>
    JSON.parse((await stewardHere(environment, "workspace", ...args)).stdout);
  const show = (name: string, ...more: string[]) => steward("show", name, ...more, "--json");
  const write = (name: string, before: string, text: string) =>
    steward("write", name, before, "--json", "--", text);
  return { ...bench, close, inChat, steward, show, write };
}

const write = (path: string, text: string): [string, object] => ["write_file", { path, text }];
const read = (path: string): [string, object] => ["read_file", { path }];
const list = (path: string): [string, object] => ["list_files", { path }];

test("what one group wrote and the operator removed, no other group reads; the operator has it back", async () => {
  const { inChat, steward, show, home } = await house();
  await inChat("C1", write("chats/slack-C1/plan.md", "secret plan"));
  await steward("remove", "chats/slack-C1/plan.md", digest("secret plan"), "--json");
  const { versions } = await show("chats/slack-C1/plan.md");
  expect(await show("chats/slack-C1/plan.md", versions[0].id)).toMatchObject({ text: "secret plan" });

  const folders = ["", ".history", "chats", "../workspace-history", "workspace-history"].map(list);
  const told = await inChat("C2", ...folders);
  expect(told[0]).toBe("chats/slack-C2/");
  const files = (await readdir(join(home, "workspace-history"), { recursive: true })).map((name) =>
    read(`../workspace-history/${name}`),
  );
  const more = [...files, read(".history/chats%2Fslack-C1%2Fplan.md"), read("chats/slack-C1/plan.md")];
  expect([...told, ...(await inChat("C2", ...more))].join("\n")).not.toMatch(/secret plan|\.operator/);
});

test("nothing that the agent writes is a version, hides one or breaks their order", async () => {
  const { inChat, show, write: save, home } = await house();
  await save("AGENTS.md", "none", "first");
  await save("AGENTS.md", digest("first"), "second");
  const forged = ["9999999999999", "10000000000000", "1"].flatMap((id) =>
    [`.history/AGENTS.md/${id}`, `workspace-history/shared/${digest("AGENTS.md")}/${id}.operator`].map(
      (path) => write(path, "forged"),
    ),
  );
  await inChat("D1", ...forged, write("AGENTS.md/9999999999999", "forged"));
  const { versions } = await show("AGENTS.md");
  expect(versions).toMatchObject([{ by: "operator" }]);
  expect(await show("AGENTS.md", versions[0].id)).toMatchObject({ text: "first" });
  expect(existsSync(join(home, "workspace/.history"))).toBe(false);

  // However often the agent writes: the operator's texts stay, and so do its own last ones.
  for (let index = 0; index < 25; index += 1) await inChat("D1", write("AGENTS.md", `agent ${index}`));
  const after = (await show("AGENTS.md")).versions as { id: string; by: string }[];
  expect(after.filter(({ by }) => by === "agent")).toHaveLength(20);
  const texts = await Promise.all(after.map(async ({ id }) => (await show("AGENTS.md", id)).text));
  expect(texts).toEqual([
    ...Array.from({ length: 20 }, (_, index) => `agent ${23 - index}`),
    "second",
    "first",
  ]);
});

test("a group that fills its share leaves room to everybody else, and folders count", async () => {
  const { inChat, write: save } = await house();
  const deep = (index: number) => `chats/slack-C1/${index}/${"d/".repeat(6)}f`;
  const results: string[] = [];
  for (let index = 0; index < 200; index += 20) {
    const some = Array.from({ length: 20 }, (_, next) => write(deep(index + next), "x"));
    results.push(...(await inChat("C1", ...some)));
  }
  const [wrote, full] = [
    results.filter((text) => text.startsWith("Written")),
    results.filter((text) => text.includes("is full: it may hold 1000 files and folders")),
  ];
  // Seven folders and a file each.
  expect([wrote.length, full.length]).toEqual([125, 75]);
  const tooDeep = await inChat("C1", write(`chats/slack-C1/${"d/".repeat(8)}f`, "x"));
  expect(tooDeep).toEqual(["A path has at most 8 parts."]);
  expect(await inChat("C2", write("chats/slack-C2/f", "x"))).toEqual([
    "Written: chats/slack-C2/f, 1 characters.",
  ]);
  expect(await inChat("D1", write("notes/f", "x"))).toEqual(["Written: notes/f, 1 characters."]);
  expect(await save("AGENTS.md", "none", "x")).toMatchObject({ name: "AGENTS.md" });
});

test("the former versions of a group have a share, too, and its oldest go first", async () => {
  const bench = await house();
  const large = (index: number) => `${index}`.padEnd(1_000_000, "x");
  for (let index = 0; index < 20; index += 1)
    await bench.inChat("C1", write("chats/slack-C1/a.md", large(index)));
  const history = join(bench.home, "workspace-history/chats/slack-C1");
  const files = await readdir(history, { recursive: true });
  const versions = files.filter((name) => name.endsWith(".agent"));
  // Of 16 MiB.
  expect(versions.length).toBeGreaterThan(10);
  expect(versions.length).toBeLessThan(17);
  const shown = (await bench.show("chats/slack-C1/a.md")) as { error: { code: string } };
  expect(shown.error.code).toBe("workspace_refused");
});

test("many files of a chat hide no shared ones, and every file of either is listed, page by page", async () => {
  const { home, steward } = await house();
  const files = async (folder: string, count: number) => {
    await mkdir(join(home, folder), { recursive: true });
    for (let index = 0; index < count; index += 1) await writeFile(join(home, folder, `${index}.md`), "x");
  };
  await files("workspace-chats/slack-C1", 520);
  await files("workspace/notes", 600);
  await files("workspace/skills/mail", 1);
  const { files: first, next, chats } = await steward("list", "--json");
  expect(chats).toEqual([{ root: "chats/slack-C1", entries: 520, bytes: 520 }]);
  expect(first).toHaveLength(500);
  const { files: second, ...rest } = await steward("list", ".", next, "--json");
  expect(rest).toMatchObject({ chats });
  const names = [...first, ...second].map(({ name }: { name: string }) => name);
  expect(new Set(names).size).toBe(601);
  expect(names).toContain("skills/mail/0.md");
  const own = await steward("list", "chats/slack-C1", "--json");
  const others = await steward("list", "chats/slack-C1", own.next, "--json");
  expect([...own.files, ...others.files]).toHaveLength(520);
  expect(own.files[0].name).toBe("chats/slack-C1/0.md");
  expect(await steward("list", "notes", "--json")).toMatchObject({ error: { code: "workspace_refused" } });
});

test("a name that is long when encoded is written, shown and removed; one that no surface can take is refused", async () => {
  const { inChat, steward, show, home } = await house();
  const long = `${"語".repeat(79)}.md`;
  expect(encodeURIComponent(long).length).toBeGreaterThan(255);
  expect(await inChat("D1", write(long, "x"))).toEqual([`Written: ${long}, 1 characters.`]);
  expect(await show(long)).toMatchObject({ text: "x" });
  expect(await steward("remove", long, digest("x"), "--json")).toEqual({ removed: long });
  const refused = [
    "語".repeat(81),
    "x".repeat(241),
    "a/".repeat(200),
    "-x",
    "./-x",
    "a\nb",
    "a\u202eb",
    "a\ud800",
    "a.",
    " a",
    "a /b",
    "a\\b",
    "a.1.tmp",
    "chats/slack-C1/-x",
    "chats/x",
    "chats/a b/c",
    ".history/x",
  ];
  const told = await inChat("D1", ...refused.map((name) => write(name, "x")));
  for (const [index, text] of told.entries())
    expect([refused[index], text]).toEqual([refused[index], expect.not.stringContaining("Written")]);
  expect(await readdir(join(home, "workspace"))).toEqual([]);
});

test("no link leads from one root into another, or outside", async () => {
  const { inChat, home } = await house();
  await inChat("C1", write("chats/slack-C1/plan.md", "secret plan"));
  await inChat("D1", write("AGENTS.md", "Be kind."));
  await symlink(join(home, "workspace-chats/slack-C1"), join(home, "workspace/link"));
  await symlink(join(home, "workspace-history"), join(home, "workspace/history"));
  await symlink(join(home, "workspace-chats/slack-C1"), join(home, "workspace-chats/slack-C2"));
  const tries = ["link/plan.md", "chats/slack-C2/plan.md", "history/layout"].flatMap((name) => [read(name)]);
  const told = await inChat("C2", ...tries, write("chats/slack-C2/AGENTS.md", "x"), list("link"));
  expect(told).toEqual(
    Array.from({ length: 5 }, () => "The path must be relative and stay in the workspace."),
  );
  expect(await readFile(join(home, "workspace-chats/slack-C1/plan.md"), "utf8")).toBe("secret plan");
});
