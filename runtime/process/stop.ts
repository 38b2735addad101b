import type { Environment } from "../contract/environment.ts";

/**
 * Set to `1` by the supervisor for its child, whose standard input is then a pipe that closes when
 * the supervisor is gone, however it went.
 */
export const SUPERVISED_VARIABLE = "STEWARD_SUPERVISED";

/**
 * Calls `stop` once, when the process is asked to end: SIGTERM, SIGINT, or a supervisor that died.
 * Without the last a gateway whose supervisor was killed would hold the port for ever.
 */
export function onStopRequest(environment: Environment, stop: () => Promise<void>): void {
  let stopping = false;
  const once = (): void => {
    if (stopping) return;
    stopping = true;
    void stop();
  };
  process.on("SIGTERM", once);
  process.on("SIGINT", once);
  if (environment[SUPERVISED_VARIABLE] !== "1") return;
  process.stdin.on("close", once);
  process.stdin.on("error", once);
  process.stdin.resume();
}
