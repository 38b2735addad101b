import type { Environment } from "../contract/environment.ts";
import { createLog, LOG_LEVELS, type Log } from "../contract/log.ts";
import { createRedactor } from "../contract/redact.ts";

const METHODS = { debug: "debug", info: "info", warning: "warn", error: "error" } as const;

/** JSON lines on the console, which is where Workers Logs collects them; LOG_LEVEL counts, secrets are masked. */
export function consoleLog(environment: Environment): Log {
  return createLog({
    name: "edge",
    level: LOG_LEVELS.find((level) => level === environment["LOG_LEVEL"]) ?? "info",
    redact: createRedactor(environment),
    // oxlint-disable-next-line no-console -- the platform's only log sink
    write: (line, level) => console[METHODS[level]](line),
  });
}
