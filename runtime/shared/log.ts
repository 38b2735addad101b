import { redactValue, type Redactor } from "./redact.ts";

/** Destination of log lines. The message is constant text and the fields are data. Neither may contain a secret. */
export interface Log {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

/** Ordered from least to most important. */
export const LOG_LEVELS = ["debug", "info", "warning", "error"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LeveledLog extends Log {
  setLevel(level: LogLevel): void;
}

export interface LogOptions {
  /** Logging process or object: `gateway`, `supervisor`, `edge`. */
  name: string;
  level: LogLevel;
  redact: Redactor;
  /** Called with one JSON line, without a line feed. */
  write(line: string, level: LogLevel): void;
}

/**
 * Returns a log of JSON lines with `time` (ISO 8601), `level`, `logger`, `message` and the caller's fields. Redacts
 * secrets in each field and in the finished line.
 */
export function createLog({ name, level: first, redact, write }: LogOptions): LeveledLog {
  let lowest = LOG_LEVELS.indexOf(first);
  const writer = (level: LogLevel, rank = LOG_LEVELS.indexOf(level)): Log["info"] =>
    function log(message, fields = {}) {
      if (rank < lowest) return;
      // Redact before the conversion to JSON, whose escapes could hide a secret.
      const clean = Object.entries(fields).map(([key, value]) => [key, redactValue(value, redact, key)]);
      const head = { time: new Date().toISOString(), level, logger: name, message };
      write(redact(JSON.stringify({ ...head, ...Object.fromEntries(clean) })), level);
    };
  return {
    debug: writer("debug"),
    info: writer("info"),
    warn: writer("warning"),
    error: writer("error"),
    setLevel: (level) => void (lowest = LOG_LEVELS.indexOf(level)),
  };
}

/** Formats a JSON log line as readable text. Returns other lines unchanged. */
export function readableLine(line: string): string {
  if (!line.startsWith("{")) return line;
  try {
    const { time = "", level = "", logger: _, message = "", ...fields } = JSON.parse(line);
    const rest = Object.entries(fields).map(
      ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
    );
    const head = `${String(time).slice(11, 19)} ${String(level).toUpperCase().padEnd(7)} ${message}`;
    return [head, ...rest].join("  ").trim();
  } catch {
    return line;
  }
}

/** Maximum length of the log retained across container sleeps, in characters of JSON. */
const KEPT_CHARACTERS = 200_000;

/** Drops the oldest lines above the limit. */
export function appendLines(kept: readonly string[], lines: readonly string[]): string[] {
  const all = [...kept, ...lines];
  let room = KEPT_CHARACTERS;
  const last = all.findLastIndex((line) => {
    room -= JSON.stringify(line).length + 1;
    return room < 0;
  });
  return all.slice(last + 1);
}

export interface LogFilter {
  /** Lowest level to show. Lines without a level, such as stack traces, are always shown. */
  level: LogLevel;
  text: string;
}

export interface ReadableLine {
  text: string;
  /** `day`: a line with the date, when the date changes. */
  kind: LogLevel | "day" | "plain";
}

export function readableLog(lines: readonly string[], { level, text }: LogFilter): ReadableLine[] {
  const lowest = LOG_LEVELS.indexOf(level);
  const wanted = text.toLowerCase();
  const shown: ReadableLine[] = [];
  let day: string | undefined;
  for (const line of lines) {
    const own = LOG_LEVELS.find((one) => line.includes(`"level":"${one}"`));
    const isLow = own !== undefined && LOG_LEVELS.indexOf(own) < lowest;
    if (isLow || !line.toLowerCase().includes(wanted)) continue;
    const [, date = day] = /"time":"(\d{4}-\d\d-\d\d)T/.exec(line) ?? [];
    if (day !== undefined && date !== day) shown.push({ text: `${date} (UTC)`, kind: "day" });
    day = date;
    shown.push({ text: readableLine(line), kind: own ?? "plain" });
  }
  return shown;
}
