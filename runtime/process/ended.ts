import { readFileSync } from "node:fs";

/**
 * Returns true if a process is known to have ended, also if its parent has not noticed that yet: such a process still
 * takes signals. Without /proc it counts as running until then.
 */
export function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
  try {
    return /^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
