import { readFileSync } from "node:fs";

/**
 * Returns true if a process has ended. A zombie counts as ended, although it still accepts signals; without /proc, it
 * counts as running. An invalid id such as 0 counts as ended.
 */
export function hasEnded(pid: number): boolean {
  // A signal to an id of 0 or below would go to a group of processes.
  if (!(pid > 0)) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The state follows the program's name, which may contain any character:
    // https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    return "ZX".includes(stat.charAt(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}
