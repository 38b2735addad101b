import type { Environment } from "../../contract/environment.ts";
import { createRedactor } from "../../contract/redact.ts";
import type { Log } from "../../edge/ports.ts";

/** JSON lines on the console, which is where Workers Logs collects them; secrets are masked. */
export function consoleLog(environment: Environment): Log {
  const redact = createRedactor(environment);
  const write =
    (level: "info" | "warn" | "error") =>
    (message: string, fields: Record<string, unknown> = {}): void => {
      // oxlint-disable-next-line no-console -- the platform's only log sink
      console[level](redact(JSON.stringify({ level, message, ...fields })));
    };
  return { info: write("info"), warn: write("warn"), error: write("error") };
}
