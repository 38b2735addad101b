// Runs the container's programs once while its image is built, so that Node's compile cache holds them and
// a container starts without compiling: https://nodejs.org/api/module.html#module-compile-cache
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const home = mkdtempSync("/tmp/warm-");
const environment = { ...process.env, STEWARD_HOME: home };

// What was compiled under other flags does not count: the services run with those of this process.
const program = (flags, name, ...args) =>
  spawn(process.execPath, [...flags, `/app/${name}`, ...args], { env: environment, stdio: "ignore" });

for (const service of ["supervisor/main.js", "platform/node/host.js"]) {
  const child = program(process.execArgv, service);
  const ended = once(child, "exit");
  let ready = false;
  for (let attempt = 0; attempt < 300 && !ready && child.exitCode === null; attempt += 1) {
    ready = await fetch("http://127.0.0.1:18789/readyz").then(
      ({ ok }) => ok,
      () => false,
    );
    await sleep(100);
  }
  // An image whose programs do not start is none.
  if (!ready) throw new Error(`${service} did not get ready`);
  // The cache is written at the end of a process that ends by itself.
  child.kill("SIGTERM");
  await ended;
}
for (const command of [
  ["pairing", "list", "telegram"],
  ["devices", "list"],
  ["config", "get", "models"],
  ["status"],
]) {
  await once(program([], "gateway/cli/main.js", ...command), "exit");
}
// What is loaded on first use only. These modules do nothing by being loaded.
for (const name of readdirSync("/app/chunks")) await import(`/app/chunks/${name}`);
rmSync(home, { recursive: true });
