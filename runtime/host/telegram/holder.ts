import { randomUUID } from "node:crypto";
import { hostname } from "node:os";

/** A name for this process that says on which machine it runs and under which process id. */
export function processHolder(): string {
  return `${hostname()}/${process.pid}/${randomUUID()}`;
}

/**
 * Whether the process behind a holder's name is known to be dead, so that a restart after a crash goes
 * on at once. What runs on another machine, or in another container, is not known.
 */
export function holderIsGone(holder: string): boolean {
  const [machine, id] = holder.split("/");
  const pid = Number(id);
  if (machine !== hostname() || !Number.isInteger(pid) || pid <= 0) return false;
  // This process is not that holder, so that one had the same id before it.
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}
