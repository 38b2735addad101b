import { spawn } from "node:child_process";
import { once } from "node:events";
import { freePorts } from "../../rehearsal/ports.ts";
import { accepting } from "../support/measure.ts";

const START_MS = 60_000;
const LISTENS = `require("node:net").createServer().listen(process.argv[1], "127.0.0.1")`;
const STARTS = `require("node:child_process").spawn(process.execPath, ["-e", process.argv[1], process.argv[2]])`;

/**
 * Milliseconds from the spawn of a Node that does nothing but start another one, until that listens: what this
 * machine takes at least for a gateway below a supervisor.
 */
export async function bareStartMs(): Promise<number> {
  const [port = 0] = await freePorts(1);
  const started = performance.now();
  const child = spawn(process.execPath, ["-e", STARTS, LISTENS, String(port)], {
    stdio: "ignore",
    // So that both end together.
    detached: true,
  });
  const gone = once(child, "exit");
  await accepting(port, START_MS);
  const took = performance.now() - started;
  process.kill(-(child.pid ?? 0), "SIGKILL");
  await gone;
  return took;
}
