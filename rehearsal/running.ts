import { readdirSync } from "node:fs";

/** Ends at once every process of this machine of which that holds. Where there is no /proc none is found. */
export function endProcesses(holds: (pid: number) => boolean): void {
  for (const name of directory("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    try {
      if (holds(pid)) process.kill(pid, "SIGKILL");
    } catch {
      // Another user's, or gone.
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
