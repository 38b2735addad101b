import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type, type Shell } from "../journeys/typed.ts";
import { startRehearsal } from "../support/rehearse.ts";

const engineMissing = inject("engineMissing") !== "";

/** The main line: a stack goes up, a message comes back, and the real CLI, typed by hand, works on it. */
let dir: string | undefined;
let shell: Shell;
let running: ReturnType<typeof startRehearsal> | undefined;
let printed: string;

beforeAll(async () => {
  if (engineMissing) return;
  dir = await mkdtemp(join(tmpdir(), "steward-rehearsal-"));
  running = startRehearsal("--verbose", "--sandbox", "process", "--dir", dir);
  printed = await running.says("Ctrl-C ends the rehearsal");
  shell = {
    folder: resolve("."),
    environment: {},
    transcript: resolve(".steward/artefacts/transcripts/rehearsal.txt"),
  };
}, 120_000);

afterAll(async () => {
  running?.child.kill("SIGINT");
  await running?.ended;
  if (dir !== undefined) await rm(dir, { recursive: true, force: true });
});

/** Types a line after the one that `npm start` prints for it. */
const byHand = (line: string) => type(shell, `. ${dir}/env && ${line}`);

test.skipIf(engineMissing)("a first update warns of nothing", () => {
  expect(printed).toContain("Deployed in");
  expect(printed).not.toContain("warning");
});

test.skipIf(engineMissing)("a message that somebody writes to the bot is answered", async () => {
  const [, slack = ""] = /^Slack: +(\S+)/m.exec(printed) ?? [];
  const form = new URLSearchParams({ text: "are you there, on the main line?" });
  expect((await fetch(new URL("say", slack), { method: "POST", body: form })).status).toBe(200);
  const page = async (): Promise<string> => (await fetch(slack)).text();
  await expect.poll(page, { timeout: 30_000 }).toContain("are you there, on the main line?”");
});

test.skipIf(engineMissing)(
  "`pulumi preview`, typed by hand, finds nothing to change and warns of nothing",
  async () => {
    const { code, said } = await byHand("pulumi preview -s rehearsal --non-interactive");
    expect(said).toMatch(/Resources:\n +\d+ unchanged\n/);
    expect(said).not.toContain("warning");
    expect(code).toBe(0);
  },
);

test.skipIf(engineMissing)("an operator's command works on it too", async () => {
  const { code, said } = await byHand("npm run --silent drift -- rehearsal");
  expect(said).toContain("No drift.");
  expect(code).toBe(0);
});
