import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { constants } from "node:os";
import { createInterface } from "node:readline";
import { endProcesses } from "../../running.ts";

/** Milliseconds between SIGTERM and SIGKILL, much less than Cloudflare's 15 minutes. */
const STOP_GRACE_MS = 10_000;

export interface ContainerProcessOptions {
  command: readonly string[];
  /** Directory that replaces the container's file system. It is emptied at the start and removed at the end. */
  dir: string;
  env: Record<string, string>;
  onLine: (line: string) => void;
}

export class ContainerProcess {
  readonly #child: ChildProcess;
  /** Resolves with the exit code. After a signal, the code is 128 plus the signal's number, as with Docker. */
  readonly ended: Promise<number>;
  #isRunning = true;

  constructor({ command, dir, env, onLine }: ContainerProcessOptions) {
    const [file, ...args] = command;
    if (file === undefined) throw new Error("The container's command is empty");
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const place = realpathSync(dir);
    this.#child = spawn(file, args, { cwd: dir, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    for (const output of [this.#child.stdout, this.#child.stderr]) {
      if (output) createInterface({ input: output }).on("line", onLine);
    }
    this.ended = new Promise((resolve) => {
      const end = (code: number): void => {
        this.#isRunning = false;
        // Kill surviving children, which could still write to the directory.
        this.#signalGroup("SIGKILL");
        endProcesses((pid) => readlinkSync(`/proc/${pid}/cwd`) === place);
        rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
        resolve(code);
      };
      this.#child.once("error", (error) => {
        onLine(`the command cannot be started: ${error.message}`);
        end(127);
      });
      this.#child.once("exit", (code, signal) => {
        end(code ?? 128 + (signal ? constants.signals[signal] : 0));
      });
    });
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Signals only the main process, as a container engine does. */
  signal(number: number): void {
    if (this.#isRunning) this.#child.kill(number);
  }

  async destroy(): Promise<void> {
    this.#signalGroup("SIGKILL");
    await this.ended;
  }

  /** Sends SIGTERM to the main process. After the grace period, sends SIGKILL to the whole process group. */
  async stop(): Promise<void> {
    this.signal(constants.signals.SIGTERM);
    const timer = setTimeout(() => this.#signalGroup("SIGKILL"), STOP_GRACE_MS);
    await this.ended;
    clearTimeout(timer);
  }

  #signalGroup(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // The process group has already ended.
    }
  }
}
