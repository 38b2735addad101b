import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import * as fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { StewardError } from "../../../../runtime/contract/errors.ts";
import { fileNameProblem } from "../../../../runtime/contract/workspace.ts";
import { digestOf } from "../../../../runtime/gateway/workspace/root.ts";
import { Workspace } from "../../../../runtime/gateway/workspace/workspace.ts";
import { chatName } from "../../../../runtime/process/chat-name.ts";

const NOW = 1_800_000_000_000;
const BY = { by: "agent" } as const;
const OPERATOR = { by: "operator" } as const;

function directory(): string {
  const home = mkdtempSync(path.join(tmpdir(), "steward-workspace-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  return home;
}

function workspaceIn(home: string, workspaceMiB = 64) {
  const changes: string[] = [];
  const workspace = new Workspace({
    home,
    limits: { workspaceMiB, groupMiB: 8 },
    clock: () => NOW,
    onChange: ({ root, name, by, action }) => changes.push(`${by} ${action} ${root} ${name}`),
  });
  return { workspace, changes };
}

/** Writes a file, and returns where; the code of the error if it is refused. */
function writeOrRefuse(workspace: Workspace, text: string): ReturnType<Workspace["find"]> | string {
  try {
    const found = workspace.find(text);
    found.root.write(found.name, "text", BY);
    return found;
  } catch (error) {
    return error instanceof StewardError ? error.code : String(error);
  }
}

/** All files below a directory, with their content. */
function filesBelow(home: string): Record<string, string> {
  const names = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    names.map((entry) => {
      const place = path.join(entry.parentPath, entry.name);
      return [path.relative(home, place), readFileSync(place, "utf8")];
    }),
  );
}

describe("names", () => {
  const part = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.string({ unit: "grapheme", maxLength: 90 }),
    fc.string({ unit: fc.constantFrom("語", "é", "x", "%", "'", '"', "😀"), minLength: 50, maxLength: 250 }),
    fc.constantFrom("..", ".", "", " ", "-a", "a.", "a.7.tmp", "chats", ".history", "CON", "a\\b", "\ud800"),
    fc.constantFrom("chats/slack-C1", "chats/slack-C2", "workspace-history", "~", "C:", "NUL.txt", "\u202e"),
  );
  const name = fc.array(part, { minLength: 1, maxLength: 10 }).map((parts) => parts.join("/"));

  test("what can be written can be listed, read, shown and removed; the rest changes nothing; nothing is outside", () => {
    const home = directory();
    const { workspace } = workspaceIn(home);
    let written = 0;
    fc.assert(
      fc.property(name, (text) => {
        const files = () =>
          [workspace.shared, ...workspace.chats().map(({ root }) => workspace.find(`${root}/`).root)].flatMap(
            (root) => root.files({ most: 100 }).files.map((file) => `${root.id}:${file.name}`),
          );
        const present = files();
        const found = writeOrRefuse(workspace, text);
        if (typeof found === "string") return found === "workspace_refused" && `${files()}` === `${present}`;
        written += 1;
        const { root, name } = found;
        expect([text, fileNameProblem(text)]).toEqual([text, undefined]);
        expect(files()).toEqual([`${root.id}:${name}`]);
        expect(root.read(name)).toBe("text");
        root.write(name, "more", BY);
        expect(root.versions(name)).toHaveLength(1);
        root.remove(name, { ...OPERATOR, expected: digestOf("more") });
        expect(files()).toEqual([]);
        rmSync(path.join(home, "workspace-history"), { recursive: true });
        expect(Object.keys(filesBelow(home)).filter((file) => !file.startsWith("workspace"))).toEqual([]);
        return true;
      }),
      { numRuns: 300, seed: 35 },
    );
    expect(written).toBeGreaterThan(30);
  });

  test("no two chats have the same root, whatever their ids", () => {
    const ids = ["C1", "-100123", "a.b", "a_b", "a b", "é", "x".repeat(300), `${"x".repeat(300)}y`, "../C1"];
    const names = ids.map((id) => chatName("slack", id));
    expect(new Set(names).size).toBe(ids.length);
    expect(names.slice(0, 2)).toEqual(["slack-C1", "slack--100123"]);
    for (const chat of names) expect(fileNameProblem(`chats/${chat}/MEMORY.md`)).toBeUndefined();
  });
});

describe("the writer", () => {
  test("reports each change, whoever makes it, and keeps what it replaces with its author", () => {
    const { workspace, changes } = workspaceIn(directory());
    const root = workspace.chat("slack-C1");
    root.write("a/b.md", "one", BY);
    root.write("a/b.md", "two", OPERATOR);
    root.write("a/b.md", "three", BY);
    root.remove("a/b.md", OPERATOR);
    expect(changes).toEqual([
      "agent written chats/slack-C1 a/b.md",
      "operator written chats/slack-C1 a/b.md",
      "agent written chats/slack-C1 a/b.md",
      "operator removed chats/slack-C1 a/b.md",
    ]);
    const versions = root.versions("a/b.md").map(({ id, by }) => [by, root.readVersion("a/b.md", id)]);
    expect(versions).toEqual([
      ["agent", "three"],
      ["operator", "two"],
      ["agent", "one"],
    ]);
  });

  test("counts what it writes and removes, folders too, and what others made at the next start", () => {
    const home = directory();
    const { workspace } = workspaceIn(home);
    const chat = () => workspace.chats().map(({ entries, bytes }) => [entries, bytes]);
    const root = workspace.chat("slack-C1");
    root.write("a/b/c.md", "12345", BY);
    root.write("a/b/c.md", "123", BY);
    root.write("a/d.md", "1", BY);
    expect(chat()).toEqual([[4, 4]]);
    root.remove("a/b/c.md", OPERATOR);
    expect(chat()).toEqual([[2, 1]]);
    mkdirSync(path.join(home, "workspace-chats/slack-C1/by-hand"));
    writeFileSync(path.join(home, "workspace-chats/slack-C1/by-hand/x"), "12");
    // A write reads figures and no folders: it does not see them.
    root.write("a/d.md", "1", BY);
    expect(chat()).toEqual([[2, 1]]);
    workspaceIn(home).workspace.open();
    expect(chat()).toEqual([[4, 3]]);
    root.remove("a/d.md", OPERATOR);
    root.remove("by-hand/x", OPERATOR);
    expect(chat()).toEqual([]);
  });

  test("gives the chats together half of the bytes, and the rest to what is shared", () => {
    const { workspace } = workspaceIn(directory(), 4);
    const text = "x".repeat(1_000_000);
    workspace.chat("slack-C1").write("a", text, BY);
    workspace.chat("slack-C2").write("a", text, BY);
    expect(() => workspace.chat("slack-C3").write("a", text, BY)).toThrow("they may hold half of 4 MiB");
    workspace.shared.write("a", text, BY);
    workspace.shared.write("b", text, BY);
    expect(() => workspace.shared.write("c", text, BY)).toThrow("The workspace is full: it may hold 4 MiB");
    workspace.shared.write("a", "short", BY);
    workspace.shared.write("c", text.slice(0, 900_000), BY);
  });

  test("lets a change of a file that is another by now change nothing", () => {
    const home = directory();
    const { workspace, changes } = workspaceIn(home);
    workspace.shared.write("a.md", "mine", OPERATOR);
    const expected = digestOf("another");
    expect(() => workspace.shared.write("a.md", "x", { ...OPERATOR, expected })).toThrow(
      "has changed since it was read",
    );
    expect(() => workspace.shared.remove("a.md", { ...OPERATOR, expected })).toThrow(
      "has changed since it was read",
    );
    expect(() => workspace.shared.remove("b.md", OPERATOR)).toThrow("no such file");
    expect([workspace.shared.read("a.md"), workspace.shared.versions("a.md"), changes.length]).toEqual([
      "mine",
      [],
      1,
    ]);
  });
});
