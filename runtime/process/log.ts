import { configureSync, getJsonLinesFormatter, getLogger, type LogRecord } from "@logtape/logtape";
import type { Log, LogLevel } from "../contract/log.ts";
import { redactValue, type Redactor } from "../contract/redact.ts";

/** What a process's log is made of. */
export interface LogOptions {
  /** The process: `gateway`, `supervisor`. */
  name: string;
  level: LogLevel;
  redact: Redactor;
  /** Receives one JSON line, its line feed included. */
  write(line: string): void;
}

/**
 * This process's log: JSON lines, every one through the redactor. A process has one log; calling
 * this again replaces it, which lets the config file's level take over from the first one.
 */
export function createLog({ name, level, redact, write }: LogOptions): Log {
  const format = getJsonLinesFormatter({ categorySeparator: "." });
  const category = ["steward", name];
  configureSync({
    reset: true,
    sinks: { out: (record: LogRecord) => write(redact(format(record))) },
    loggers: [
      { category, lowestLevel: level, sinks: ["out"] },
      { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["out"] },
    ],
  });
  const logger = getLogger(category);
  // Field by field first: a secret with a quote or a backslash in it looks different inside a JSON line.
  const clean = (fields: Record<string, unknown> = {}): Record<string, unknown> =>
    Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, redactValue(value, redact, key)]));
  return {
    debug: (message, fields) => logger.debug(message, clean(fields)),
    info: (message, fields) => logger.info(message, clean(fields)),
    warn: (message, fields) => logger.warn(message, clean(fields)),
    error: (message, fields) => logger.error(message, clean(fields)),
  };
}
