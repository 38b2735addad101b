import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { hasEnded } from "../runtime/process/ended.ts";
import { endProcesses } from "./running.ts";

const VARIABLE = "STEWARD_REHEARSAL";

/** An environment variable that marks a child of this process, and which directory it works on. */
export function processMark(dir: string): Record<string, string> {
  return { [VARIABLE]: `${process.pid}:${dir}` };
}

/**
 * Ends what a killed rehearsal left running on the same directory or on one below it: the engine, which would write to
 * the state, with its plugins; workerd, which would hold its databases; containers that run as processes. They are
 * recognised by their mark and by an owner that has exited. Without /proc nothing is found.
 */
export function endStrayProcesses(dir: string): void {
  endProcesses((pid) => {
    const owner = ownerOf(pid, dir);
    return owner !== undefined && hasEnded(owner);
  });
}

/**
 * Starts a process that ends stray processes once this process has ended, even by SIGKILL: it waits for the end of its
 * standard input. Returns a function that stops it.
 */
export function watchStrayProcesses(dir: string): () => Promise<void> {
  const program = `const { endStrayProcesses } = await import(${JSON.stringify(import.meta.url)}); endStrayProcesses(process.argv[1]);`;
  const words = [process.execPath, "--input-type=module", "--eval", program, dir];
  const watch = spawn("sh", ["-c", 'cat > /dev/null; exec "$@"', "sh", ...words], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  // Without a shell there is no watch; the next rehearsal ends what is left.
  watch.on("error", () => undefined);
  watch.unref();
  return async () => void watch.kill("SIGKILL");
}

/** The process that started this one for that directory, or for one in it; undefined when none did. */
function ownerOf(pid: number, dir: string): number | undefined {
  const prefix = `${VARIABLE}=`;
  const entries = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  const value = entries.find((entry) => entry.startsWith(prefix))?.slice(prefix.length) ?? "";
  const [owner = "", ...rest] = value.split(":");
  return `${rest.join(":")}/`.startsWith(`${dir}/`) ? Number(owner) : undefined;
}
