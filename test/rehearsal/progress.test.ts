import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Progress } from "../../rehearsal/progress.ts";

let dir: string;
let said: string;
let statuses: string[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  dir = mkdtempSync(path.join(tmpdir(), "steward-progress-"));
  said = "";
  statuses = [];
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(dir, { recursive: true });
});

function progress({ terminal = false, verbose = false } = {}) {
  const status = (line: string) => void statuses.push(line);
  const say = (text: string) => void (said += text);
  const file = path.join(dir, "deep", "steps.log");
  return { file, progress: new Progress({ output: { say, ...(terminal && { status }) }, file, verbose }) };
}

const lasting = (ms: number) => async () => void vi.advanceTimersByTime(ms);

test("without a terminal, a step is one line: what is done, then the time that it took", async () => {
  const { progress: steps } = progress();
  await steps.step("Updating the stack", async () => {
    expect(said).toBe("Updating the stack … ");
    steps.detail(" +  a resource created\n");
    await lasting(4_210)();
  });
  await steps.step("Sending a message through", lasting(90));
  expect(said).toBe("Updating the stack … done in 4.2 s\nSending a message through … done in 0.1 s\n");
});

test("on a terminal, the line counts the seconds and is replaced at the end", async () => {
  const { progress: steps } = progress({ terminal: true });
  await steps.step("Updating the stack", lasting(450));
  expect(statuses).toEqual([
    "Updating the stack … 0.0 s",
    "Updating the stack … 0.2 s",
    "Updating the stack … 0.4 s",
    "",
  ]);
  expect(said).toBe("Updating the stack … done in 0.5 s\n");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(statuses).toHaveLength(4);
});

test("details go to the owner's file, and to the screen only if asked for", async () => {
  for (const verbose of [false, true]) {
    said = "";
    const { file, progress: steps } = progress({ verbose, terminal: true });
    await steps.step("Updating the stack", async () => steps.log("creating a Worker"));
    expect(readFileSync(file, "utf8")).toBe("# Updating the stack\ncreating a Worker\n");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(said.includes("creating a Worker\n")).toBe(verbose);
  }
});

test("a failed step prints the end of its own details and names the file; an interrupted one does not", async () => {
  const { file, progress: steps } = progress();
  await steps.step("Previewing", async () => steps.log("of another step"));
  const failing = steps.step("Updating", async () => {
    for (let at = 1; at <= 30; at += 1) steps.log(`line ${at}`);
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(said).toContain("Updating … failed after 0.0 s\n  line 16\n");
  expect(said).toContain(`  line 30\nFull log: ${file}\n`);
  expect(said).not.toMatch(/line 15\n|another step/);

  said = "";
  const interrupted = steps.step("Updating", async () => Promise.reject(new Error("interrupted")));
  await expect(interrupted).rejects.toThrow("interrupted");
  expect(said).toBe("Updating … interrupted after 0.0 s\n");
});
