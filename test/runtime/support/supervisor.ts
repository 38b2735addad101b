import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Log } from "../../../runtime/shared/log.ts";
import { createSupervisor, type SupervisorOptions } from "../../../runtime/supervisor/supervisor.ts";
import { CONTROL_TOKEN, programOf, SECRETS, temporaryDirectory } from "./processes.ts";
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
  const file = source === undefined ? programOf("gateway/main.ts") : await program(home, source);
  const supervisor = createSupervisor({
    command: [process.execPath, file],
    cli: [process.execPath, programOf("gateway/cli/main.ts")],
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
