import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { TOURS } from "../../rehearsal/tour/names.ts";
import { rehearse } from "../support/rehearse.ts";

const TOUR_MS = 400_000;

async function folder(): Promise<string> {
  const parent = await mkdtemp(path.join(tmpdir(), "steward-tour-"));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  return path.join(parent, "dir");
}

test(
  "the tour goes through every chapter, checks what it says, and leaves nothing",
  async () => {
    const dir = await folder();
    const { code, stdout, stderr, report } = await rehearse(
      "tour",
      "--json",
      "--sandbox",
      "process",
      "--dir",
      dir,
    );
    expect(code, `${stdout}${stderr}`).toBe(0);
    expect(report).toMatchObject({ ok: true, chapters: { length: 5 } });
    // Each chapter says where to look, and has checked something.
    const [, ...chapters] = stderr.split(/^── \d\/5 /m);
    expect(chapters.map((text) => text.split(" ─")[0])).toEqual([
      "A pairing",
      "A crash",
      "A broken config",
      "A rollback",
      "A restore",
    ]);
    for (const text of chapters) {
      expect(text).toMatch(/^ {3}✓ /m);
      expect(text).toMatch(/^ {3}Look at {2}http:\/\/127\.0\.0\.1:\d+\//m);
      expect(text).not.toContain("Press Enter");
    }
    expect(existsSync(dir)).toBe(false);
    expect(existsSync(".steward/rollouts/rehearsal")).toBe(false);
  },
  TOUR_MS,
);

test.each(["drift", "rollout"] as const)(
  "npm start -- %s rehearses the real command on a stack of its own",
  async (name) => {
    const dir = await folder();
    const { code, stdout, stderr } = await rehearse(name, "--sandbox", "process", "--dir", dir);
    expect(code, `${stdout}${stderr}`).toBe(0);
    expect(stdout).toMatch(new RegExp(`^\\$ npm run ${name} -- rehearsal.* … done in`, "m"));
    expect(stdout).toContain("All checks passed. The stack is removed.");
    expect(existsSync(dir)).toBe(false);
  },
  TOUR_MS,
);

test(
  "on a terminal, a tour waits for Enter before each action, and Ctrl-C removes its stack",
  async () => {
    const dir = await folder();
    const line = `exec ${process.execPath} rehearsal/start.ts restore --sandbox process --dir ${dir}`;
    const child = spawn("script", ["--quiet", "--return", "--command", line, "/dev/null"], { stdio: "pipe" });
    let shown = "";
    child.stdout.on("data", (part: Buffer) => void (shown += part.toString()));
    const says = (text: string) => expect.poll(() => shown, { timeout: 120_000 }).toContain(text);
    await says("Press Enter to delete every conversation. ");
    expect(shown).toContain(" is complete");
    expect(shown).not.toContain("no conversation is left");
    child.stdin.write("\n");
    await says("no conversation is left");
    await says("Press Enter to restore 0");
    child.stdin.write("\u0003");
    const [code] = (await once(child, "close")) as [number];
    expect(code).toBe(1);
    expect(shown).toContain("interrupted");
    expect(existsSync(path.join(dir, "restore"))).toBe(false);
  },
  TOUR_MS,
);

test("the help lists every tour", async () => {
  const { code, stdout } = await rehearse("--help");
  expect(code).toBe(0);
  for (const [name, summary] of Object.entries(TOURS))
    expect(stdout).toMatch(new RegExp(`^ +${name} +${summary}$`, "m"));
});
