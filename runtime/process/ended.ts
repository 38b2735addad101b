import { readFileSync } from "node:fs";

/**
 * Returns true if a process is known to have ended, also if its parent has not noticed that yet: such a process still
 * takes signals. Without /proc it counts as running until then. What is no process's id, such as 0, has ended.
 */
export function hasEnded(pid: number): boolean {
  // The signal would go to a group of processes, this one's own for 0.
  if (!(pid > 0)) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // Behind the program's name, which may hold anything: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    return "ZX".includes(stat.charAt(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}
