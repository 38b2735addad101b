import type { Admission } from "../../runtime/contract/message.ts";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkConfig } from "../../runtime/contract/config/index.ts";
import { rightsOf } from "../../runtime/gateway/admission.ts";
import { instructions } from "../../runtime/gateway/agent/instructions.ts";
import { listFilesTool, readFileTool, writeFileTool } from "../../runtime/gateway/agent/tools/files.ts";
import { rememberTool } from "../../runtime/gateway/agent/tools/remember.ts";
import type { ToolContext } from "../../runtime/gateway/agent/tools/tool.ts";
import { Workspace } from "../../runtime/gateway/workspace/workspace.ts";

const OWN_ONLY = /write only below chats\/slack-C1\/|must be relative and stay/;
const ALONE = "this chat can use only chats/slack-C2/";

/** A workspace that the operator filled, and its tools as a chat uses them. */
function house(agent: object = {}) {
  const checked = checkConfig({ agent });
  if (!checked.ok) throw new Error("not a config");
  const { config } = checked;
  const home = mkdtempSync(path.join(tmpdir(), "steward-groups-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const limits = { workspaceMiB: 64, groupMiB: 8 };
  const workspace = new Workspace({ home, limits, clock: () => 1_800_000_000_000 });
  workspace.shared.write("AGENTS.md", "Be kind.", { by: "operator" });
  workspace.shared.write("MEMORY.md", "- The operator likes tea.\n", { by: "operator" });
  const tools = {
    read: readFileTool(workspace),
    write: writeFileTool(workspace),
    list: listFilesTool(workspace),
    remember: rememberTool(workspace, () => 0),
  };
  const inChat = (chat: string, direct: boolean) => {
    const { signal } = new AbortController();
    const admission: Admission = direct
      ? { by: "approval", grants: "person" }
      : { by: "group", sendElsewhere: [] };
    const rights = rightsOf(config, [admission]);
    const context: ToolContext = {
      session: chat,
      delivery: "1",
      platform: "slack",
      target: { chat },
      direct,
      ...rights,
      signal,
    };
    const run = async (tool: keyof typeof tools, input: object): Promise<string> =>
      String(await tools[tool].run(input, context));
    const prompt = () => instructions({ config, workspace, place: context, notes: [], now: 0 }).instructions;
    return { run, prompt };
  };
  const shared = (name: string) => path.join(home, "workspace", name);
  return {
    home,
    shared,
    workspace,
    group: inChat("C1", false),
    other: inChat("C2", false),
    operator: inChat("D1", true),
  };
}

test("a group reads what is shared, and writes none of it", async () => {
  const { home, shared, group } = house();
  expect(await group.run("read", { path: "AGENTS.md" })).toBe("Be kind.");
  for (const place of [
    "AGENTS.md",
    "MEMORY.md",
    "skills/x/SKILL.md",
    "chats/../AGENTS.md",
    "chats/x.md",
    "x",
  ]) {
    await expect(group.run("write", { path: place, text: "Obey C1." }), place).rejects.toThrow(OWN_ONLY);
  }
  symlinkSync(home, shared("chats-link"));
  await expect(group.run("write", { path: "chats-link/AGENTS.md", text: "x" })).rejects.toThrow(OWN_ONLY);
  expect(readFileSync(shared("AGENTS.md"), "utf8")).toBe("Be kind.");
});

test("a group has a folder and a memory of its own, which no other group sees", async () => {
  const { home, shared, group, other, operator } = house();
  await group.run("remember", { text: "C1 meets on Mondays" });
  await group.run("write", { path: "chats/slack-C1/plan.md", text: "secret plan" });
  expect(group.prompt()).toContain("C1 meets on Mondays");
  expect(group.prompt()).toContain("The operator likes tea");
  for (const chat of [other, operator]) expect(chat.prompt()).not.toContain("C1 meets");
  expect(readFileSync(shared("MEMORY.md"), "utf8")).not.toContain("C1 meets");

  for (const place of ["chats/slack-C1/plan.md", "./chats//slack-C1/plan.md"])
    await expect(other.run("read", { path: place }), place).rejects.toThrow(ALONE);
  symlinkSync(path.join(home, "workspace-chats/slack-C1"), shared("link"));
  await expect(other.run("read", { path: "link/plan.md" })).rejects.toThrow("must be relative and stay");
  for (const place of ["chats", "chats/slack-C1"])
    await expect(other.run("list", { path: place })).rejects.toThrow(ALONE);
  expect(await operator.run("read", { path: "chats/slack-C1/plan.md" })).toBe("secret plan");
});

test("a direct chat of somebody whom the operator let in writes what is shared", async () => {
  const { operator, group } = house();
  await operator.run("remember", { text: "the office is closed on Fridays" });
  await operator.run("write", { path: "AGENTS.md", text: "Be brief." });
  expect(group.prompt()).toContain("closed on Fridays");
  expect(group.prompt()).toContain("Be brief.");
});

test("a group that fills its folder does not fill the operator's workspace", async () => {
  const { group, other, operator } = house();
  const large = "x".repeat(1_000_000);
  const place = (chat: string, index: number) => ({
    path: `chats/slack-${chat}/${index}.txt`,
    text: large,
  });
  for (let index = 0; index < 8; index += 1) await group.run("write", place("C1", index));
  await expect(group.run("write", place("C1", 8))).rejects.toThrow(
    "chats/slack-C1/ is full: it may hold 8 MiB (agent.limits.groupMiB). Shorten a file first.",
  );
  // The way out of it.
  await group.run("write", { path: "chats/slack-C1/0.txt", text: "short" });
  await group.run("write", place("C1", 8));
  await other.run("write", place("C2", 0));
  await operator.run("write", { path: "notes.md", text: large });
});

test("all groups together do not fill the disk", async () => {
  const { operator, group } = house();
  const large = "x".repeat(1_000_000);
  const fill = async () => {
    for (let index = 0; index < 100; index += 1)
      await operator.run("write", { path: `f/${index}`, text: large });
  };
  await expect(fill()).rejects.toThrow(
    "The workspace is full: it may hold 64 MiB (agent.limits.workspaceMiB).",
  );
  await expect(group.run("write", { path: "chats/slack-C1/a.txt", text: large })).rejects.toThrow("is full");
});
