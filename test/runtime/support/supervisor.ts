import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { Log } from "../../../runtime/shared/log.ts";
import { createSupervisor, type SupervisorOptions } from "../../../runtime/supervisor/supervisor.ts";
import { CONTROL_TOKEN, SECRETS, temporaryDirectory } from "./processes.ts";
import { freePort } from "../../support/ports.ts";

/** A log that keeps its lines. */
function memoryLog(): Log & { lines: string[] } {
  const lines: string[] = [];
  const add = (message: string, fields: object = {}): void =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { lines, debug: add, info: add, warn: add, error: add };
}

/** Quick enough for a test, slow enough to be seen. */
const QUICK = { firstMs: 20, longestMs: 80, maxFailures: 4, stableAfterMs: 60_000, neededAfterMs: 60_000 };

/** The gateway's real program. */
const GATEWAY = fileURLToPath(new URL("../../../runtime/gateway/main.ts", import.meta.url));

/** The command line's real program. */
const CLI = fileURLToPath(new URL("../../../runtime/gateway/cli/main.ts", import.meta.url));

/** A program in place of the gateway. It may use `port` and `ready()`, which listens and answers. */
async function program(directory: string, source: string): Promise<string> {
  const path = join(directory, "program.mjs");
  const head = `
    import { createServer } from "node:http";
    const port = Number(process.env.GATEWAY_PORT);
    const ready = () => createServer((request, response) =>
      response.end(JSON.stringify({ ready: true, version: "9.9.9", pid: process.pid, url: request.url,
        token: request.headers.authorization }))).listen(port, "127.0.0.1");
  `;
  await writeFile(path, `${head}\n${source}`);
  return path;
}

/** A supervisor over a program, in a directory of its own; stopped with the test. */
export async function supervised(source: string | undefined, extra: Partial<SupervisorOptions> = {}) {
  const [home, gatewayPort] = await Promise.all([temporaryDirectory(), freePort()]);
  const log = memoryLog();
  const output: string[] = [];
  const file = source === undefined ? GATEWAY : await program(home, source);
  const supervisor = createSupervisor({
    command: [process.execPath, file],
    cli: [process.execPath, CLI],
    environment: { ...SECRETS },
    home,
    gatewayPort,
    controlToken: CONTROL_TOKEN,
    log,
    onOutput: (line) => void output.push(line),
    policy: QUICK,
    ...extra,
  });
  onTestFinished(() => supervisor.stop());
  return { supervisor, home, gatewayPort, log, output };
}
