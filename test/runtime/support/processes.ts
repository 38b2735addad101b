import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject, onTestFinished } from "vitest";

export const CONTROL_TOKEN = "control-token-of-the-tests-0123456789";
export const SECRETS = {
  ANTHROPIC_API_KEY: "sk-ant-test-aaaaaaaaaaaaaaaaaaaaaaaa",
  SLACK_BOT_TOKEN: "xoxb-111-222-abcdefghijkl",
  SLACK_SIGNING_SECRET: "signing-secret-of-the-tests",
} as const;

/** Creates a directory that is removed when the test ends. */
export async function temporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "steward-test-"));
  // A child of a process that the test ended may still write here for a moment.
  onTestFinished(() => rm(path, { recursive: true, force: true, maxRetries: 10 }));
  return path;
}

/** Only what hangs takes longer, also on a busy machine. Below the timeout of a test. */
const EVENTUALLY_MS = 50_000;

/** Waits until `check` gives something other than `undefined` or `false`. */
export async function eventually<T>(check: () => Promise<T | undefined | false> | T | undefined | false) {
  const end = Date.now() + EVENTUALLY_MS;
  for (;;) {
    const value = await check();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > end) throw new Error(`nothing came within ${EVENTUALLY_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Does a work again if a day of UTC ended meanwhile. */
export async function inOneDay<T>(work: (day: string) => Promise<T>): Promise<T> {
  const today = () => new Date().toISOString().slice(0, 10);
  const day = today();
  const result = await work(day);
  return today() === day ? result : inOneDay(work);
}

/** A process of the runtime. Ended with the test. */
export interface RuntimeProcess {
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Exit code, `null` after a signal. */
  exited: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
}

/** Starts `runtime/<entry>`. */
export function startRuntime(entry: string, environment: Record<string, string>): RuntimeProcess {
  return startNode([programOf(entry)], environment);
}

/**
 * Returns the file that runs `runtime/<entry>`: the source, or in the process and system tiers, which start hundreds,
 * the bundled program, whose start takes half the processor time.
 */
export function programOf(entry: string): string {
  const bundled = inject("programs") as string | undefined;
  return bundled === undefined
    ? fileURLToPath(new URL(`../../../runtime/${entry}`, import.meta.url))
    : join(bundled, entry.replace(/\.ts$/, ".js"));
}

/** Starts Node with arguments and nothing of this process's environment but the PATH and where compiled code is kept. */
export function startNode(args: readonly string[], environment: Record<string, string>): RuntimeProcess {
  const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, ...environment };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.kill("SIGTERM");
    const force = setTimeout(() => child.kill("SIGKILL"), 12_000);
    await exited;
    clearTimeout(force);
  });
  return {
    pid: child.pid ?? -1,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    exited,
    kill: (signal) => void child.kill(signal),
  };
}
