import { readFileSync } from "node:fs";

/** The container's own counters, as control groups of version 2 and 1 have them. */
const COUNTERS = ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"];
/**
 * Makes the kernel end this process first when memory is full (https://man7.org/linux/man-pages/man5/proc_pid_oom_score_adj.5.html),
 * then becomes the command that follows. Once Node runs, its file in /proc is root's alone.
 */
const FIRST_TO_GO = '{ echo 500 >/proc/self/oom_score_adj; } 2>/dev/null; exec "$@"';

/** Returns how many processes the kernel has killed because the container's memory was full; 0 where nobody tells. */
export function oomKills(): number {
  for (const file of COUNTERS) {
    try {
      const [, count] = /^oom_kill (\d+)$/m.exec(readFileSync(file, "utf8")) ?? [];
      if (count !== undefined) return Number(count);
    } catch {
      // The other version, or no control groups at all.
    }
  }
  return 0;
}

/** Returns a command whose process goes when memory is full, not the supervisor that can tell why and start it again. */
export function goesFirst(command: readonly string[]): [string, ...string[]] {
  return ["/bin/sh", "-c", FIRST_TO_GO, "sh", ...command];
}
