import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** The providers that the project can serve itself. */
export type ProviderName = "cloudflare" | "command";

/** Which providers to attach, and where progress goes. */
export interface AttachOptions {
  needed: readonly ProviderName[];
  log: (line: string) => void;
}

/** Providers that run. `env` is for the engine; `close` ends them. */
export interface AttachedProviders {
  env: { PULUMI_DEBUG_PROVIDERS: string };
  close(): Promise<void>;
}

/** Node's own start and the client's import on a slow machine. */
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 5_000;

/**
 * Starts the project's own providers, one process each, and waits for their ports. A provider holds
 * one configuration at a time: give each engine that runs at the same time providers of its own.
 *
 * @throws Error when one does not start; the others are ended.
 */
export async function attachProviders({ needed, log }: AttachOptions): Promise<AttachedProviders> {
  const children = needed.map((name) => ({ name, process: start(name, log) }));
  const close = async () => void (await Promise.all(children.map((child) => stop(child.process))));
  try {
    const entries = await Promise.all(
      children.map(async (child) => `${child.name}:${await portOf(child.name, child.process)}`),
    );
    log(`attached the project's own providers: ${needed.join(", ")}`);
    return { env: { PULUMI_DEBUG_PROVIDERS: entries.join(",") }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function start(name: ProviderName, log: (line: string) => void): ChildProcess {
  const script = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ["pipe", "pipe", "pipe"] });
  child.stderr?.on("data", (chunk: Buffer) => log(`${name} provider: ${chunk.toString().trimEnd()}`));
  return child;
}

function portOf(name: ProviderName, child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`The ${name} provider did not start: ${why}`));
    const timer = setTimeout(() => fail(`no port within ${START_TIMEOUT_MS} ms`), START_TIMEOUT_MS);
    let output = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      const port = /^(\d+)\n/.exec(output)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve(Number(port));
    });
    child.once("error", (error) => fail(error.message));
    child.once("exit", (code, signal) => {
      clearTimeout(timer);
      fail(`it ended with ${code ?? signal}`);
    });
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, "exit");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  child.kill("SIGTERM");
  await ended;
  clearTimeout(timer);
}
