import { readFileSync } from "node:fs";

/**
 * V8 and the C library use much memory where a machine has much, and a host has more than a container may use. For V8
 * from the start: a small nursery, which is no flag that its compiled code depends on (the others come later:
 * process/memory.ts). With all of them a thousand messages leave the service at seven tenths of what it weighs
 * otherwise, at the same speed (`npm run bench -- --only memory`). The image starts its own programs with the same.
 */
export const SMALL_HEAP = ["--max-semi-space-size=2"] as const;

/**
 * One arena for all threads, and what is free goes back:
 * https://www.gnu.org/software/libc/manual/html_node/Memory-Allocation-Tunables.html
 */
export const SMALL_MALLOC = {
  MALLOC_ARENA_MAX: "1",
  MALLOC_TRIM_THRESHOLD_: "131072",
  MALLOC_MMAP_THRESHOLD_: "65536",
} as const;

/** The container's own counters, as control groups of version 2 and 1 have them. */
const COUNTERS = ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"];

/** Returns the number of processes that the kernel OOM-killed in this container; 0 if the kernel does not report it. */
export function countOomKills(): number {
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
