/** Where log lines go. The message is constant text, fields are data; neither ever holds a secret. */
export interface Log {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

/** How much is logged, least important first. */
export const LOG_LEVELS = ["debug", "info", "warning", "error"] as const;

/** See {@link LOG_LEVELS}. */
export type LogLevel = (typeof LOG_LEVELS)[number];
