import { readFileSync } from "node:fs";

/**
 * Returns true if a process has ended, even if it is a zombie, which still accepts signals. Without /proc, a zombie
 * counts as running. An invalid id such as 0 counts as ended.
 */
export function hasEnded(pid: number): boolean {
  // An id of 0 or below would signal a process group.
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
