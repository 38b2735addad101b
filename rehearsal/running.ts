import { readdirSync } from "node:fs";

/** Kills all processes for which `holds` returns true. Does nothing without /proc. */
export function endProcesses(holds: (pid: number) => boolean): void {
  for (const name of directory("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    try {
      if (holds(pid)) process.kill(pid, "SIGKILL");
    } catch {
      // The process has ended or belongs to another user.
    }
  }
}

function directory(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
