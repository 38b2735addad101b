import { createHash } from "node:crypto";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stewardAtTerminal, stewardHere } from "../support/cli.ts";
import { writeConfig } from "../support/gateway.ts";
import { SECRETS, temporaryDirectory } from "../support/processes.ts";

const digest = (text: string) => createHash("sha256").update(text).digest("hex");

async function commandLine() {
  const home = await temporaryDirectory();
  await writeConfig(home);
  const run = (...args: string[]) => stewardHere({ ...SECRETS, STEWARD_HOME: home }, "workspace", ...args);
  const json = async (...args: string[]) => JSON.parse((await run(...args)).stdout);
  return { home, run, json, file: (name: string) => join(home, "workspace", name) };
}

test("a file is written, changed, read in a former version, removed and had back", async () => {
  const { run, json, file } = await commandLine();
  expect(await run("list")).toMatchObject({ code: 0, stdout: "No files.\n" });
  const first = "- be kind\n";
  expect(await run("write", "AGENTS.md", "none", "--", first)).toMatchObject({
    stdout: "Wrote AGENTS.md.\n",
  });
  expect(await readFile(file("AGENTS.md"), "utf8")).toBe(first);
  await run("write", "AGENTS.md", digest(first), "--", "--json");
  expect(await run("show", "AGENTS.md")).toMatchObject({ code: 0, stdout: "--json" });

  const shown = await json("show", "AGENTS.md", "--json");
  expect(shown).toMatchObject({ text: "--json", expected: digest("--json"), sha256: digest("--json") });
  expect(shown.versions).toHaveLength(1);
  const [{ id }] = shown.versions;
  expect(await json("show", "AGENTS.md", id, "--json")).toMatchObject({ text: first, sha256: digest(first) });

  expect(await run("remove", "AGENTS.md", digest("--json"))).toMatchObject({ code: 0 });
  const removed = await json("show", "AGENTS.md", "--json");
  expect(removed).toMatchObject({ text: "", expected: "none" });
  expect(removed.versions).toHaveLength(2);
  expect(await json("list", "--json")).toEqual({ files: [] });
  await run("write", "skills/mail/SKILL.md", "none", "--", "Mail");
  expect(await json("list", "--json")).toMatchObject({ files: [{ name: "skills/mail/SKILL.md", size: 4 }] });
});

test("a file that somebody else has changed is left as it is, and twenty versions are kept", async () => {
  const { run, json, file } = await commandLine();
  await run("write", "MEMORY.md", "none", "--", "mine");
  await writeFile(file("MEMORY.md"), "the assistant's");
  const refused = await json("write", "MEMORY.md", digest("mine"), "--json", "--", "new");
  expect(refused).toMatchObject({ error: { code: "workspace_changed" } });
  expect(await readFile(file("MEMORY.md"), "utf8")).toBe("the assistant's");
  let before = "the assistant's";
  for (let index = 0; index < 25; index += 1) {
    await run("write", "MEMORY.md", digest(before), "--", `text ${index}`);
    before = `text ${index}`;
  }
  const { versions } = await json("show", "MEMORY.md", "--json");
  expect(versions).toHaveLength(20);
  expect(await json("show", "MEMORY.md", versions[0].id, "--json")).toMatchObject({ text: "text 23" });
  expect(await json("show", "MEMORY.md", versions[19].id, "--json")).toMatchObject({ text: "text 4" });
});

test("no path leads out of the workspace or into its history, and no long text goes in", async () => {
  const { home, json, file } = await commandLine();
  await mkdir(file("."), { recursive: true });
  await symlink(home, file("out"));
  await writeFile(join(home, "secret"), "a secret");
  for (const name of [
    "../secret",
    "out/secret",
    "/etc/passwd",
    ".history/x",
    "a/../../secret",
    "",
    "chats",
    "chats/a b/c",
  ]) {
    expect([name, await json("show", name, "--json")]).toMatchObject([
      name,
      { error: { code: "workspace_refused" } },
    ]);
    expect([name, await json("write", name, "none", "--json", "--", "x")]).toMatchObject([
      name,
      { error: { code: "workspace_refused" } },
    ]);
  }
  expect(await readFile(join(home, "secret"), "utf8")).toBe("a secret");
  const long = await json("write", "AGENTS.md", "none", "--json", "--", "x".repeat(48 * 1024 + 1));
  expect(long).toMatchObject({ error: { code: "workspace_refused" } });
  const nul = await json("write", "AGENTS.md", "none", "--json", "--", "a\0b");
  expect(nul).toMatchObject({ error: { code: "workspace_refused" } });
  expect(await json("show", "AGENTS.md", "--json")).toMatchObject({
    error: { code: "workspace_file_unknown" },
  });
  expect(await json("show", "AGENTS.md", "1700000000000", "--json")).toMatchObject({
    error: { code: "workspace_file_unknown" },
  });
});

test("a file cannot command the terminal that shows it, and is copied as it is", async () => {
  const { home, run, json } = await commandLine();
  const text = "# Notes\n\u001b]0;owned\u0007\u009b2J\u202etxt\n";
  await run("write", "AGENTS.md", "none", "--", text);
  const environment = { ...SECRETS, STEWARD_HOME: home };
  const { stdout } = await stewardAtTerminal(environment, "workspace", "show", "AGENTS.md");
  expect(stdout).toBe(String.raw`# Notes
\u001b]0;owned\u0007\u009b2J\u202etxt

`);
  expect(await run("show", "AGENTS.md")).toMatchObject({ stdout: text });
  expect(await json("show", "AGENTS.md", "--json")).toMatchObject({ text });
  const asJson = await stewardAtTerminal(environment, "workspace", "show", "AGENTS.md", "--json");
  expect(asJson.stdout).not.toMatch(/(?!\n)\p{Cc}|\u202e/u);
  expect(JSON.parse(asJson.stdout)).toMatchObject({ text });
});
