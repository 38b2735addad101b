import { readdirSync, readFileSync } from "node:fs";

const VARIABLE = "STEWARD_REHEARSAL";

/** An environment variable that marks a child of this process, and whose storage directory it works on. */
export function mark(dir: string): Record<string, string> {
  return { [VARIABLE]: `${process.pid}:${dir}` };
}

/**
 * Ends what a killed rehearsal left running on the same directory: workerd, which would hold its databases, and
 * containers that are processes. They are known by their mark and by an owner that is no more. Where there is no
 * /proc nothing is found.
 */
export function endLeftovers(dir: string): void {
  for (const name of directory("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const owner = ownerOf(pid, dir);
    if (owner !== undefined && !isAlive(owner)) end(pid);
  }
}

/** The process that started this one for that directory; undefined when none did. */
function ownerOf(pid: number, dir: string): number | undefined {
  try {
    const prefix = `${VARIABLE}=`;
    const entries = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    const value = entries.find((entry) => entry.startsWith(prefix))?.slice(prefix.length) ?? "";
    const [owner = "", ...rest] = value.split(":");
    return rest.join(":") === dir ? Number(owner) : undefined;
  } catch {
    // Another user's, or gone.
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself meanwhile.
  }
}

function directory(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
