import { spawn } from "node:child_process";
import type { Environment } from "../contract/environment.ts";
import { splitSecrets, SECRETS_FD } from "../process/environment.ts";

/** Time for which the process's last output may still be on its way. */
const LAST_WORDS_MS = 1_000;

/** A user of the machine that is not this process's own. */
export interface ProcessUser {
  /** The user's id, and its group's. */
  id: number;
  /** Runs work with the rights to start and to end the user's processes. */
  withRights<T>(work: () => T): T;
}

/** Command to run. */
export interface ChildOptions {
  command: readonly [string, ...string[]];
  environment: Environment;
  /** Default: the user that this process runs as. */
  user?: ProcessUser | undefined;
  /** Its whole standard input. Default: a pipe that closes when this process is gone. */
  input?: string;
}

/** End of a process. */
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
 * standard input is a pipe that closes when this process is gone. Never throws.
 */
export function startChild(options: ChildOptions): Child {
  try {
    return spawnChild(options);
  } catch (error) {
    // Too little memory for another process, for example: most other causes come as an event instead.
    const spawnError = error instanceof Error ? error.message : String(error);
    const exited = Promise.resolve({ code: null, signal: null, spawnError });
    return { pid: null, read: () => {}, exited, kill: () => {} };
  }
}

function spawnChild(options: ChildOptions): Child {
  const [file, ...args] = options.command;
  const { environment, secrets } = splitSecrets(options.environment);
  const stdio = ["pipe", "pipe", "pipe", "pipe"] as const;
  const { user } = options;
  const withRights = user === undefined ? <T>(work: () => T): T => work() : user.withRights;
  const identity = user && { uid: user.id, gid: user.id };
  const child = withRights(() =>
    spawn(file, args, { env: environment, detached: true, stdio: [...stdio], ...identity }),
  );
  const { pid } = child;
  const kill = (signal: NodeJS.Signals): void => {
    if (pid === undefined) return;
    try {
      withRights(() => process.kill(-pid, signal));
    } catch (error) {
      const gone = error instanceof Error && "code" in error && error.code === "ESRCH";
      if (!gone) throw error;
    }
  };
  // Without a file descriptor left there are no streams, only the error.
  const streams: Partial<Pick<typeof child, "stdin" | "stdout" | "stderr">> = child;
  const read: Child["read"] = (onOutput) => {
    for (const stream of ["stdout", "stderr"] as const) {
      streams[stream]?.setEncoding("utf8").on("data", (text: string) => onOutput(stream, text));
    }
  };
  // The pipe breaks when the child ends first, which is no error here.
  streams.stdin?.on("error", () => {});
  if (options.input !== undefined) streams.stdin?.end(options.input);
  const handover = child.stdio?.[SECRETS_FD];
  if (handover && "end" in handover) handover.on("error", () => {}).end(secrets);
  const exited = new Promise<ChildExit>((resolve) => {
    child.once("error", (error) => resolve({ code: null, signal: null, spawnError: error.message }));
    child.once("exit", () => {
      // What it left behind holds the output's pipes open, and perhaps the port.
      kill("SIGKILL");
      // What has left the group is not reached, and without this "close" would not come before its end.
      setTimeout(
        () => [streams.stdout, streams.stderr].forEach((one) => one?.destroy()),
        LAST_WORDS_MS,
      ).unref();
    });
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  return { pid: pid ?? null, read, exited, kill };
}
