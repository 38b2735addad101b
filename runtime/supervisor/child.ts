import { spawn } from "node:child_process";
import type { Environment } from "../contract/environment.ts";

/** What to run. */
export interface ChildOptions {
  command: readonly [string, ...string[]];
  environment: Environment;
}

/** How a process ended. */
interface ChildExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  spawnError?: string;
}

/** A running process, the leader of a group of its own. */
export interface Child {
  /** `null` where it could not be started. */
  pid: number | null;
  /** Hands its output over from its beginning on. To be called once: unread output holds the process up. */
  read(onOutput: (stream: "stdout" | "stderr", text: string) => void): void;
  /** Resolves when the process is gone and its output is read to the end. Never rejects. */
  exited: Promise<ChildExit>;
  /** Signals the whole group. */
  kill(signal: NodeJS.Signals): void;
}

/**
 * Starts a process in a group of its own, so that whatever it starts in turn ends with it. Its
 * standard input is a pipe that closes when this process is gone.
 */
export function startChild({ command, environment }: ChildOptions): Child {
  const [file, ...args] = command;
  const child = spawn(file, args, { env: environment, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  const { pid } = child;
  const kill = (signal: NodeJS.Signals): void => {
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch (error) {
      const gone = error instanceof Error && "code" in error && error.code === "ESRCH";
      if (!gone) throw error;
    }
  };
  const read: Child["read"] = (onOutput) => {
    for (const stream of ["stdout", "stderr"] as const) {
      child[stream].setEncoding("utf8").on("data", (text: string) => onOutput(stream, text));
    }
  };
  // The pipe breaks when the child ends first, which is no error here.
  child.stdin.on("error", () => {});
  const exited = new Promise<ChildExit>((resolve) => {
    child.once("error", (error) => resolve({ code: null, signal: null, spawnError: error.message }));
    // What it left behind holds the output's pipes open, and perhaps the port.
    child.once("exit", () => kill("SIGKILL"));
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  return { pid: pid ?? null, read, exited, kill };
}
