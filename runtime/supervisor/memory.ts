import { readFileSync, writeFileSync } from "node:fs";

/** The container's own counters, as control groups of version 2 and 1 have them. */
const COUNTERS = ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"];
/** From -1000 to 1000: https://man7.org/linux/man-pages/man5/proc_pid_oom_score_adj.5.html */
const FIRST_TO_GO = "500";

/** How many processes the kernel has killed because the container's memory was full; 0 where nobody tells. */
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

/** When memory is full this process goes, not the supervisor that can tell why and start it anew. */
export function goesFirst(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, FIRST_TO_GO);
  } catch {
    // Gone already, or not Linux: the kernel chooses.
  }
}
