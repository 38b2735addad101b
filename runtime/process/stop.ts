import type { Environment } from "../contract/environment.ts";
import { StewardError } from "../contract/errors.ts";
import type { Redactor } from "../shared/redact.ts";

/**
 * Set to `1` by the supervisor for its child, whose standard input is then a pipe that closes when
 * the supervisor is gone, however it went.
 */
export const SUPERVISED_VARIABLE = "STEWARD_SUPERVISED";

/** Reason for a process to end: it was asked to, or its supervisor is gone and no one hears its answers. */
type StopCause = "asked" | "abandoned";

/** Time that an abandoned process may take for its end before it is ended. */
const ABANDONED_MS = 5_000;

/**
 * Calls `stop` once, when the process is asked to end: SIGTERM, SIGINT, or a supervisor that died.
 * Without the last a gateway whose supervisor was killed would hold the port for ever.
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
  // Nobody reads what it writes then, which must not end it in the middle of its last work.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => once("abandoned"));
}

/**
 * Ends this process, the leader of its group, with all that it started. Not by an exit: Node's can hang
 * for ever (https://github.com/nodejs/node/issues/54918), and no supervisor is there to notice.
 */
function endGroup(): void {
  process.kill(-process.pid, "SIGKILL");
}

/**
 * Returns what a process writes to stderr before it ends with exit code 1: what is wrong, then the fix.
 *
 * A config error is printed in its own words, which operators search for (specification, section 7);
 * every other one starts with `Error [code]:`, by which the supervisor knows it again.
 */
export function fatalReport(error: unknown, redact: Redactor): string {
  if (!(error instanceof StewardError)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return `${redact(text)}\n`;
  }
  const head = error.code === "config_invalid" ? "" : `Error [${error.code}]: `;
  return `${redact(`${head}${error.message}\nFix: ${error.reason.fix}`)}\n`;
}
