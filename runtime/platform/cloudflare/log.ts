import type { Environment } from "../../contract/environment.ts";
import { LOG_LEVELS, type Log, type LogLevel } from "../../contract/log.ts";
import { createRedactor } from "../../contract/redact.ts";

const METHODS = { debug: "debug", info: "info", warning: "warn", error: "error" } as const;

/** JSON lines on the console, which is where Workers Logs collects them; LOG_LEVEL counts, secrets are masked. */
export function consoleLog(environment: Environment): Log {
  const redact = createRedactor(environment);
  const lowest = LOG_LEVELS.findIndex((level) => level === environment["LOG_LEVEL"]);
  const writer =
    (level: LogLevel) =>
    (message: string, fields: Record<string, unknown> = {}): void => {
      if (LOG_LEVELS.indexOf(level) < (lowest === -1 ? LOG_LEVELS.indexOf("info") : lowest)) return;
      // oxlint-disable-next-line no-console -- the platform's only log sink
      console[METHODS[level]](redact(JSON.stringify({ level, message, ...fields })));
    };
  return { debug: writer("debug"), info: writer("info"), warn: writer("warning"), error: writer("error") };
}
