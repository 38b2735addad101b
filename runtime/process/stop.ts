import type { Environment } from "../contract/environment.ts";
import { StewardError } from "../contract/errors.ts";
import type { Redactor } from "../shared/redact.ts";

/**
 * Environment variable that is `1` in a supervisor's child process. Such a process stops when its supervisor ends.
 */
export const SUPERVISED_VARIABLE = "STEWARD_SUPERVISED";

/** Reason for a stop. `abandoned`: the supervisor is gone, and nobody reads this process's output. */
type StopCause = "asked" | "abandoned";

/** Milliseconds after which an abandoned process is killed. */
const ABANDONED_MS = 5_000;

/** Calls `stop` once, on SIGTERM, SIGINT or the supervisor's death. */
export function onStopRequest(environment: Environment, stop: (cause: StopCause) => Promise<void>): void {
  let stopping = false;
  const once = (cause: StopCause): void => {
    if (stopping) return;
    stopping = true;
    if (cause === "asked") return void stop(cause);
    setTimeout(endGroup, ABANDONED_MS);
    void stop(cause).finally(endGroup);
  };
  process.on("SIGTERM", () => once("asked"));
  process.on("SIGINT", () => once("asked"));
  if (environment[SUPERVISED_VARIABLE] !== "1") return;
  process.stdin.on("close", () => once("abandoned"));
  process.stdin.on("error", () => once("abandoned"));
  process.stdin.resume();
  // A write error means that nobody reads the output. Without a listener, the error would end the process before
  // `stop` completes.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => once("abandoned"));
}

/**
 * Kills this process and everything it started. `process.exit` can hang forever:
 * https://github.com/nodejs/node/issues/54918
 */
function endGroup(): void {
  process.kill(-process.pid, "SIGKILL");
}

/** Formats a fatal error and its fix for stderr. The supervisor reads the error's code from `Error [code]:`. */
export function fatalReport(error: unknown, redact: Redactor): string {
  if (!(error instanceof StewardError)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return `${redact(text)}\n`;
  }
  // A config error has no prefix: operators search for its exact text (specification, section 7).
  const head = error.code === "config_invalid" ? "" : `Error [${error.code}]: `;
  return `${redact(`${head}${error.message}\nFix: ${error.reason.fix}`)}\n`;
}
