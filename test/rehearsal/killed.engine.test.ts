import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { copyCheckout, type Checkout } from "../support/checkout.ts";
import { adapted } from "../support/example-stack.ts";
import { runs } from "../support/measure.ts";
import { reservePortsOf } from "../support/ports.ts";
import { startServerlessStage, type ServerlessStage } from "../support/serverless-stack.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";
import { openShell, type, type Shell } from "../journeys/typed.ts";
import { ACCOUNT, TOKEN } from "./support.ts";

/** What is started for an update, by a part of its command line. */
const STARTED = {
  "the language host": "language-host.cjs",
  "the program": "@pulumi/pulumi/cmd/run",
  "the Cloudflare provider": "providers/cloudflare.ts",
  "the command provider": "providers/command.ts",
  "the own provider": "infra/provider/main.ts",
} as const;
const GONE = { timeout: 60_000, interval: 100 };

/** Variable by which all that a killed command has started is found, also what has no parent any more. */
const MARK = "STEWARD_TEST_KILLED";

/** Returns the command lines of the processes that have this mark in their environment and still run. */
function marked(mark: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && runs(Number(name)) && readOf(name, "environ").includes(mark))
    .map((name) => readOf(name, "cmdline").replaceAll("\0", " "));
}

function readOf(pid: string, file: "environ" | "cmdline"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

/**
 * Runs a command and kills its process alone as soon as all of these have been started.
 *
 * @returns the mark of everything that it has started
 */
async function killOnce(
  { folder, environment }: Omit<Shell, "transcript">,
  line: string,
  wanted: readonly string[],
  mark: string = randomUUID(),
): Promise<string> {
  const env = { ...process.env, ...environment, [MARK]: mark };
  const child = spawn("sh", ["-c", `exec ${line}`], { cwd: folder, env });
  let said = "";
  for (const output of [child.stdout, child.stderr]) {
    output.on("data", (chunk: Buffer) => (said += chunk.toString()));
  }
  const missing = new Set(wanted);
  while (missing.size > 0) {
    if (child.exitCode !== null) throw new Error(`it ended before ${[...missing]}:\n${said}`);
    await sleep(10);
    const lines = marked(mark);
    for (const text of wanted) if (lines.some((one) => one.includes(text))) missing.delete(text);
  }
  child.kill("SIGKILL");
  return mark;
}

describe("`pulumi up`, typed by hand and killed, leaves nothing behind", () => {
  let world: ServerlessStage;
  let checkout: Checkout;
  let shell: Shell;

  beforeAll(async () => {
    world = await startServerlessStage();
    checkout = await copyCheckout();
    shell = await openShell(checkout.root, "killed");
    await type(shell, "pulumi stack init dev");
    const file = join(checkout.root, "stacks/Pulumi.dev.yaml");
    const { "steward:origin": origin, "steward:endpoints": endpoints } = world.config();
    const rehearsed = [
      `  cloudflare:baseUrl: ${world.stage.cloudflare.url}`,
      `  steward:origin: ${origin?.value}`,
      `  steward:endpoints: '${endpoints?.value}'`,
    ];
    const own = adapted(await readFile(file, "utf8"))
      .replace("00112233445566778899aabbccddeeff", ACCOUNT)
      .replace("acme.cloudflareaccess.com", world.identity.url)
      .replace(/^config:$/m, ["config:", ...rehearsed].join("\n"));
    await writeFile(file, own);
    await type(shell, `pulumi config set -s dev --secret cloudflare:apiToken ${TOKEN}`);
    await type(shell, "pulumi config set -s dev --secret steward:anthropicApiKey sk-test-0123456789");
  }, ENGINE_MS);

  afterAll(async () => {
    await checkout?.close();
    await world?.close();
  }, UPDATE_MS);

  /** Kills an update. The lock of the one before, which was killed too, is released as the README says. */
  async function killUpdate(...wanted: string[]): Promise<string> {
    await type(shell, "pulumi cancel -s dev");
    return killOnce(shell, "pulumi up -s dev --yes", wanted);
  }

  test.each(Object.entries(STARTED))(
    "when %s has only just been started",
    async (_, text) => {
      const mark = await killUpdate(text);
      await expect.poll(() => marked(mark), GONE).toEqual([]);
    },
    UPDATE_MS,
  );

  test(
    "when all of it was started",
    async () => {
      const mark = await killUpdate(...Object.values(STARTED));
      await expect.poll(() => marked(mark), GONE).toEqual([]);
    },
    UPDATE_MS,
  );
});

describe("`npm start`, killed, leaves nothing behind", () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "steward-rehearsal-"));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  test.each([
    ["npm and the rehearsal", "npm start -- --once --sandbox process --dir"],
    ["the rehearsal", "node rehearsal/start.ts --once --sandbox process --dir"],
  ])(
    "%s, in an update and with its container",
    async (_, line) => {
      const shell = { folder: resolve("."), environment: { ANTHROPIC_API_KEY: "" } };
      // The container's environment is its own, but the rehearsal's mark in it names the folder.
      await killOnce(shell, `${line} ${dir}`, ["infra/provider/main.ts"], dir);
      await expect.poll(() => marked(dir), GONE).toEqual([]);
      await reservePortsOf(dir);
      await killOnce(shell, `${line} ${dir}`, ["workerd", "supervisor/main.js"], dir);
      await expect.poll(() => marked(dir), GONE).toEqual([]);
    },
    UPDATE_MS,
  );
});
