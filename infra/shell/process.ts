import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { constants } from "node:os";

/** Result of a command. `missing` is true if the command is not installed. */
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
  /** Milliseconds after which the command is killed. Default: no limit. */
  timeoutMs?: number;
  /** Callback for each line of standard output and error. */
  onLine?: (line: string) => void;
  /** Predicate on output lines. The command is stopped at the first match. */
  until?: (line: string) => boolean;
}

/** Maximum number of characters to retain from the end of each output stream, where errors appear. */
const MAX_CHARACTERS = 1 << 20;

/** Runs a command without a shell. A non-zero exit code does not reject the promise. */
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
    // Ignore EPIPE: a command may exit without reading all of its input.
    child.stdin.on("error", () => {});
    child.stdin.end(options.input);
    // The command would otherwise outlive this process.
    const abandon = (): void => void child.kill();
    process.once("exit", abandon);
    child.once("close", () => process.off("exit", abandon));
    const outputs = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8");
      child[name].on("data", (text: string) => {
        outputs[name] = (outputs[name] + text).slice(-MAX_CHARACTERS);
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
