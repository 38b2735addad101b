import type { Environment } from "../../contract/environment.ts";
import { LOG_LEVELS, type Log, type LogLevel } from "../../contract/log.ts";
import { createRedactor, redactValue } from "../../contract/redact.ts";

const METHODS = { debug: "debug", info: "info", warning: "warn", error: "error" } as const;

/** JSON lines on the console, which is where Workers Logs collects them; LOG_LEVEL counts, secrets are masked. */
export function consoleLog(environment: Environment): Log {
  const redact = createRedactor(environment);
  const lowest = LOG_LEVELS.findIndex((level) => level === environment["LOG_LEVEL"]);
  // Field by field: inside a JSON line a secret with a quote or a backslash looks different.
  const clean = (fields: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, redactValue(value, redact, key)]));
  const writer =
    (level: LogLevel) =>
    (message: string, fields: Record<string, unknown> = {}): void => {
      if (LOG_LEVELS.indexOf(level) < (lowest === -1 ? LOG_LEVELS.indexOf("info") : lowest)) return;
      // oxlint-disable-next-line no-console -- the platform's only log sink
      console[METHODS[level]](JSON.stringify({ level, message: redact(message), ...clean(fields) }));
    };
  return { debug: writer("debug"), info: writer("info"), warn: writer("warning"), error: writer("error") };
}
