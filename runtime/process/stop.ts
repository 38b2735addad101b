import type { Environment } from "../contract/environment.ts";
import { StewardError } from "../contract/errors.ts";
import type { Redactor } from "../shared/redact.ts";

/**
 * The supervisor sets it to `1` for its child. The child's standard input is then a pipe that closes when the
 * supervisor exits or dies.
 */
export const SUPERVISED_VARIABLE = "STEWARD_SUPERVISED";

/** `abandoned`: the supervisor is gone, and nobody reads this process's output. */
type StopCause = "asked" | "abandoned";

/** Time for an abandoned process to stop before it is killed. */
const ABANDONED_MS = 5_000;

/**
 * Calls `stop` once, on SIGTERM, SIGINT or the death of the supervisor. Otherwise the gateway of a killed supervisor
 * would hold the port forever.
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
  // Nobody reads the output any more. Without a listener, the write error would crash the process during its last work.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => once("abandoned"));
}

/**
 * Kills this process, its group's leader, and everything it started. `process.exit` can hang forever
 * (https://github.com/nodejs/node/issues/54918), and no supervisor would notice.
 */
function endGroup(): void {
  process.kill(-process.pid, "SIGKILL");
}

/**
 * Returns the text that a process writes to stderr before it exits with code 1: the problem, then the fix.
 *
 * Config errors keep their exact words, which operators search for (specification, section 7). Other errors start with
 * `Error [code]:`, from which the supervisor reads the code.
 */
export function fatalReport(error: unknown, redact: Redactor): string {
  if (!(error instanceof StewardError)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return `${redact(text)}\n`;
  }
  const head = error.code === "config_invalid" ? "" : `Error [${error.code}]: `;
  return `${redact(`${head}${error.message}\nFix: ${error.reason.fix}`)}\n`;
}
