import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { hasEnded } from "../runtime/process/ended.ts";
import { endProcesses } from "./running.ts";

const VARIABLE = "STEWARD_REHEARSAL";

/** Returns an environment variable that marks child processes with this process's id and `dir`. */
export function processMark(dir: string): Record<string, string> {
  return { [VARIABLE]: `${process.pid}:${dir}` };
}

/**
 * Kills processes left behind by killed rehearsals that ran in `dir` or its subdirectories. Does nothing without
 * /proc.
 */
export function endStrayProcesses(dir: string): void {
  endProcesses((pid) => {
    const owner = ownerOf(pid, dir);
    return owner !== undefined && hasEnded(owner);
  });
}

/**
 * Starts a watcher that kills stray processes when this process ends, even by SIGKILL. Returns a function that stops
 * the watcher.
 */
export function watchStrayProcesses(dir: string): () => Promise<void> {
  const program = `const { endStrayProcesses } = await import(${JSON.stringify(import.meta.url)}); endStrayProcesses(process.argv[1]);`;
  const words = [process.execPath, "--input-type=module", "--eval", program, dir];
  const watch = spawn("sh", ["-c", 'cat > /dev/null; exec "$@"', "sh", ...words], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  // Without a shell there is no watcher. The next rehearsal then cleans up.
  watch.on("error", () => undefined);
  watch.unref();
  return async () => void watch.kill("SIGKILL");
}

/**
 * Returns the process id of the rehearsal that started `pid`, from its environment (see {@link processMark}). Returns
 * `undefined` if the variable is missing or the rehearsal's directory is outside `dir`.
 */
function ownerOf(pid: number, dir: string): number | undefined {
  const prefix = `${VARIABLE}=`;
  const entries = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  const value = entries.find((entry) => entry.startsWith(prefix))?.slice(prefix.length) ?? "";
  const [owner = "", ...rest] = value.split(":");
  return `${rest.join(":")}/`.startsWith(`${dir}/`) ? Number(owner) : undefined;
}
