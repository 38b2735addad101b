import { spawn } from "node:child_process";
import type { Environment } from "../contract/environment.ts";
import { splitSecrets, SECRETS_FD } from "../process/environment.ts";

/** Milliseconds allowed for the last output after a process has exited. */
const LAST_WORDS_MS = 1_000;

type Command = readonly [string, ...string[]];

/** Another operating-system user whose processes this process may start and end. */
export interface ProcessUser {
  id: number;
  /** Returns the command and the options for `spawn` that run `command` as this user. */
  as(command: Command): { command: Command; options: { uid?: number; gid?: number } };
  kill(processGroup: number, signal: NodeJS.Signals): void;
}

export interface ChildOptions {
  command: Command;
  environment: Environment;
  /** Default: this process's user. */
  user?: ProcessUser | undefined;
  /** Complete text for standard input. Default: a pipe that closes when this process ends. */
  input?: string;
}

interface ChildExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  spawnError?: string;
}

export interface Child {
  /** `null` if it could not be started. */
  pid: number | null;
  /** Passes on all output, from its beginning. Call exactly once: unread output blocks the process. */
  read(onOutput: (stream: "stdout" | "stderr", text: string) => void): void;
  /** Resolves when the process is gone and its output is fully read. Never rejects. */
  exited: Promise<ChildExit>;
  kill(signal: NodeJS.Signals): void;
}

/** Starts a process in its own group, so that its descendants end with it. Never throws. */
export function startChild(options: ChildOptions): Child {
  try {
    return spawnChild(options);
  } catch (error) {
    // `spawn` throws for some failures, such as too little memory, and reports others as an `error` event.
    const spawnError = error instanceof Error ? error.message : String(error);
    const exited = Promise.resolve({ code: null, signal: null, spawnError });
    return { pid: null, read: () => {}, exited, kill: () => {} };
  }
}

function spawnChild(options: ChildOptions): Child {
  const { user } = options;
  const {
    command: [file, ...args],
    options: identity,
  } = user?.as(options.command) ?? { command: options.command, options: {} };
  const { environment, secrets } = splitSecrets(options.environment);
  const stdio = ["pipe", "pipe", "pipe", "pipe"] as const;
  const child = spawn(file, args, { env: environment, detached: true, stdio: [...stdio], ...identity });
  const { pid } = child;
  const kill = (signal: NodeJS.Signals): void => {
    if (pid === undefined) return;
    if (user !== undefined) return user.kill(pid, signal);
    try {
      process.kill(-pid, signal);
    } catch (error) {
      const gone = error instanceof Error && "code" in error && error.code === "ESRCH";
      if (!gone) throw error;
    }
  };
  // Without free file descriptors, `spawn` returns no streams and only reports the error.
  const streams: Partial<Pick<typeof child, "stdin" | "stdout" | "stderr">> = child;
  const read: Child["read"] = (onOutput) => {
    for (const stream of ["stdout", "stderr"] as const) {
      streams[stream]?.setEncoding("utf8").on("data", (text: string) => onOutput(stream, text));
    }
  };
  // Ignore a broken pipe: the child may end before it has read its input.
  streams.stdin?.on("error", () => {});
  if (options.input !== undefined) streams.stdin?.end(options.input);
  const handover = child.stdio?.[SECRETS_FD];
  if (handover && "end" in handover) handover.on("error", () => {}).end(secrets);
  const exited = new Promise<ChildExit>((resolve) => {
    child.once("error", (error) => resolve({ code: null, signal: null, spawnError: error.message }));
    child.once("exit", () => {
      // Processes left behind would hold the output pipes open, and perhaps the port.
      kill("SIGKILL");
      // Processes outside the group could hold the pipes open and delay the `close` event.
      setTimeout(
        () => [streams.stdout, streams.stderr].forEach((one) => one?.destroy()),
        LAST_WORDS_MS,
      ).unref();
    });
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  return { pid: pid ?? null, read, exited, kill };
}
