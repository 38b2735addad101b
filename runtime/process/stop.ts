import type { Environment } from "../contract/environment.ts";
import { StewardError } from "../contract/errors.ts";
import type { Redactor } from "../shared/redact.ts";

/** The supervisor sets it to `1` for its child, whose standard input then closes when the supervisor exits or dies. */
export const SUPERVISED_VARIABLE = "STEWARD_SUPERVISED";

/** `abandoned`: the supervisor is gone, and nobody reads this process's output. */
type StopCause = "asked" | "abandoned";

/** An abandoned process is killed after this time. */
const ABANDONED_MS = 5_000;

/**
 * Calls `stop` once, on SIGTERM, SIGINT or the death of the supervisor. An abandoned gateway would hold the port
 * forever.
 */
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
  // Nobody reads the output. Without a listener, the write error would crash the process during its last work.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => once("abandoned"));
}

/**
 * Kills this process and everything it started. `process.exit` can hang forever
 * (https://github.com/nodejs/node/issues/54918), and no supervisor would notice.
 */
function endGroup(): void {
  process.kill(-process.pid, "SIGKILL");
}

/**
 * Returns the problem and its fix, for stderr before an exit with code 1. Config errors keep their exact words, which
 * operators search for (specification, section 7). The supervisor reads the code of other errors from `Error [code]:`.
 */
export function fatalReport(error: unknown, redact: Redactor): string {
  if (!(error instanceof StewardError)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return `${redact(text)}\n`;
  }
  const head = error.code === "config_invalid" ? "" : `Error [${error.code}]: `;
  return `${redact(`${head}${error.message}\nFix: ${error.reason.fix}`)}\n`;
}
