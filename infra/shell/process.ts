import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { constants } from "node:os";

/** Result of a command. `missing` means that the command is not installed. */
export interface Finished {
  code: number;
  stdout: string;
  stderr: string;
  missing: boolean;
  timedOut: boolean;
}

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Default: empty standard input. */
  input?: string;
  /** The command is killed afterwards. Default: no limit. */
  timeoutMs?: number;
  /** Called for each line of standard output and error. */
  onLine?: (line: string) => void;
  /** Stops the command at the first line for which it returns true. */
  until?: (line: string) => boolean;
}

/** Limit per output stream. Enough for any error, and little memory for a verbose build. */
const KEEP_BYTES = 1 << 20;

/** Runs a command without a shell. A non-zero exit code does not reject. */
export function runProcess(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: "pipe",
    });
    // A command that does not read its input may exit before all of it is written (EPIPE).
    child.stdin.on("error", () => {});
    child.stdin.end(options.input);
    // Otherwise, for example, a compiler would run on after this process exits.
    const abandon = (): void => void child.kill();
    process.once("exit", abandon);
    child.once("close", () => process.off("exit", abandon));
    const outputs = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8");
      child[name].on("data", (text: string) => {
        outputs[name] = (outputs[name] + text).slice(-KEEP_BYTES);
      });
      if (options.onLine || options.until) {
        createInterface({ input: child[name] }).on("line", (line) => {
          options.onLine?.(line);
          if (options.until?.(line)) child.kill();
        });
      }
    }

    let timedOut = false;
    const timer =
      options.timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            timedOut = true;
            child.kill("SIGKILL");
          }, options.timeoutMs);

    child.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      if (error.code !== "ENOENT") reject(error);
      else resolve({ code: 127, ...outputs, missing: true, timedOut });
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      const ended = code ?? 128 + (signal ? constants.signals[signal] : 0);
      resolve({ code: ended, ...outputs, missing: false, timedOut });
    });
  });
}

export function tail(finished: Finished, lines = 20): string {
  const text = finished.stderr.trim() || finished.stdout.trim();
  return text.split("\n").slice(-lines).join("\n");
}
