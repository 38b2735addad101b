// Runs once, during the image's build. Compiles all programs into Node's compile cache:
// https://nodejs.org/api/module.html#module-compile-cache
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { reduceMemoryUse } from "../process/memory.ts";
import { readProcessSettings } from "../process/settings.ts";

const APP = join(import.meta.dirname, "..");
const LOOK_MS = 100;
const MAX_LOOKS = 300;

const home = mkdtempSync(join(tmpdir(), "warm-"));
const { gatewayPort } = readProcessSettings(process.env);

// 1. Compile the modules that services load on first use. First, set the V8 flags that the services set after
// startup, because a compile cache is valid only for the V8 flags with which it was created.
reduceMemoryUse();
for (const name of readdirSync(join(APP, "chunks"))) await import(join(APP, "chunks", name));
flushCompileCache();

// 2. Run each service with the Node flags of a real start. Node writes the cache when a process exits normally.
for (const service of ["supervisor/main.js", "host/main.js"]) {
  // The previous service's gateway must exit first, or `isReady` would take it for this service's gateway.
  await waitUntil(async () => !(await isReady()), "the previous gateway did not exit");
  const child = program(process.execArgv, service);
  const ended = once(child, "exit");
  // Fail the build of an image whose programs do not start.
  await waitUntil(
    async () => child.exitCode !== null || (await isReady()),
    `${service} did not become ready`,
  );
  child.kill("SIGTERM");
  const [code, signal] = await ended;
  if (code !== 0) throw new Error(`${service} did not exit cleanly: ${signal ?? code}`);
}

// 3. Compile the command line's modules.
for (const command of [
  ["pairing", "list", "telegram"],
  ["devices", "list"],
  ["config", "get", "models"],
  ["status"],
]) {
  await once(program([], "gateway/cli/main.js", ...command), "exit");
}
rmSync(home, { recursive: true });

function program(flags: readonly string[], name: string, ...args: string[]): ChildProcess {
  const env = { ...process.env, STEWARD_HOME: home };
  return spawn(process.execPath, [...flags, join(APP, name), ...args], { env, stdio: "ignore" });
}

async function waitUntil(holds: () => Promise<boolean>, trouble: string): Promise<void> {
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    if (await holds()) return;
    await sleep(LOOK_MS);
  }
  throw new Error(trouble);
}

function isReady(): Promise<boolean> {
  return fetch(`http://127.0.0.1:${gatewayPort}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}
