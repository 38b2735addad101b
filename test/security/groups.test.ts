import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkConfig } from "../../runtime/contract/config/index.ts";
import { instructions } from "../../runtime/gateway/agent/instructions.ts";
import { listFilesTool, readFileTool, writeFileTool } from "../../runtime/gateway/agent/tools/files.ts";
import { rememberTool } from "../../runtime/gateway/agent/tools/remember.ts";
import type { ToolContext } from "../../runtime/gateway/agent/tools/tool.ts";
import { Workspace } from "../../runtime/gateway/agent/workspace.ts";

const OWN_ONLY = /written below chats\/slack-C1\/ only|must be relative and stay/;
const ALONE = "this chat has chats/slack-C2/ alone";

/** A workspace that the operator filled, and its tools as a chat uses them. */
function house() {
  const home = mkdtempSync(path.join(tmpdir(), "steward-groups-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const workspace = new Workspace(home);
  workspace.write("AGENTS.md", "Be kind.");
  workspace.write("MEMORY.md", "- The operator likes tea.\n");
  const tools = {
    read: readFileTool(workspace),
    write: writeFileTool(workspace),
    list: listFilesTool(workspace),
    remember: rememberTool(workspace, () => 0),
  };
  const inChat = (chat: string, direct: boolean) => {
    const { signal } = new AbortController();
    const context: ToolContext = { conversation: chat, platform: "slack", target: { chat }, direct, signal };
    const run = (tool: keyof typeof tools, input: object): Promise<string> => tools[tool].run(input, context);
    const checked = checkConfig({});
    if (!checked.ok) throw new Error("not a config");
    const prompt = () =>
      instructions({ config: checked.config, workspace, place: context, notes: [], now: 0 }).instructions;
    return { run, prompt };
  };
  return { home, group: inChat("C1", false), other: inChat("C2", false), operator: inChat("D1", true) };
}

test("a group reads what is shared, and writes none of it", async () => {
  const { home, group } = house();
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
  symlinkSync(home, path.join(home, "chats-link"));
  await expect(group.run("write", { path: "chats-link/AGENTS.md", text: "x" })).rejects.toThrow(OWN_ONLY);
  expect(readFileSync(path.join(home, "AGENTS.md"), "utf8")).toBe("Be kind.");
});

test("a group has a folder and a memory of its own, which no other group sees", async () => {
  const { home, group, other, operator } = house();
  await group.run("remember", { text: "C1 meets on Mondays" });
  await group.run("write", { path: "chats/slack-C1/plan.md", text: "secret plan" });
  expect(group.prompt()).toContain("C1 meets on Mondays");
  expect(group.prompt()).toContain("The operator likes tea");
  for (const chat of [other, operator]) expect(chat.prompt()).not.toContain("C1 meets");
  expect(readFileSync(path.join(home, "MEMORY.md"), "utf8")).not.toContain("C1 meets");

  symlinkSync(path.join(home, "chats/slack-C1"), path.join(home, "link"));
  for (const place of ["chats/slack-C1/plan.md", "link/plan.md", "./chats//slack-C1/plan.md"]) {
    await expect(other.run("read", { path: place }), place).rejects.toThrow(
      "this chat has chats/slack-C2/ alone",
    );
  }
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
