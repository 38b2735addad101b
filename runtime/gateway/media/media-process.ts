import { join } from "node:path";
import { preferOomKill, runtimeProgramFile } from "../../process/programs.ts";

/** Work on a file whose content may be hostile; see main.ts. */
export type Task = "image" | "pdf" | "office";

/** The process ends before any other when memory is full. */
const OOM_SCORE = 1_000;
const TASK_MS = 20_000;
/** Seconds of processor time. It also ends a program whose gateway is gone. */
const CPU_LIMIT = 'ulimit -t 60; exec "$@"';
/** Megabytes of V8's heap. The memory of WebAssembly is bounded by what is given to it: see `mostPixels`. */
const HEAP_MB = 192;
const MOST_OUTPUT = 8_000_000;

/**
 * Runs work on files in a process of its own, one after the other: with no key in its environment, with no right but to
 * read the program, and with bounds of time and memory. A file that breaks it breaks nothing else.
 */
export class MediaProcess {
  readonly #taskMs: number;
  readonly #program: string;
  #last: Promise<unknown> = Promise.resolve();

  /** `program`: its file; a test may put another one there. */
  constructor({ taskMs = TASK_MS, program = runtimeProgramFile("gateway/media/main") } = {}) {
    this.#taskMs = taskMs;
    this.#program = program;
  }

  /**
   * Returns what the program writes.
   *
   * @throws if it fails, takes too long or writes too much, or if the signal ends it.
   */
  run(task: Task, data: Uint8Array, signal: AbortSignal): Promise<Buffer> {
    const work = this.#last.then(() => this.#run(task, data, signal));
    this.#last = work.catch(() => undefined);
    return work;
  }

  async #run(task: Task, data: Uint8Array, signal: AbortSignal): Promise<Buffer> {
    signal.throwIfAborted();
    const { spawn } = await import("node:child_process");
    // In source, packages lie outside of the programs' folder.
    const readable = this.#program.endsWith(".ts") ? "*" : join(this.#program, "../../../*");
    const [program, ...args] = preferOomKill(OOM_SCORE, [
      "/bin/sh",
      "-c",
      CPU_LIMIT,
      "sh",
      process.execPath,
      "--permission",
      `--allow-fs-read=${readable}`,
      `--max-old-space-size=${HEAP_MB}`,
      this.#program,
      task,
    ]);
    const either = AbortSignal.any([signal, AbortSignal.timeout(this.#taskMs)]);
    return new Promise((resolve, reject) => {
      const child = spawn(program, args, {
        env: { NODE_OPTIONS: "--disable-sigusr1" },
        stdio: ["pipe", "pipe", "ignore"],
        signal: either,
        killSignal: "SIGKILL",
      });
      const pieces: Buffer[] = [];
      let size = 0;
      child.stdout.on("data", (piece: Buffer) => {
        size += piece.byteLength;
        if (size > MOST_OUTPUT) child.kill("SIGKILL");
        else pieces.push(piece);
      });
      child.on("error", reject);
      child.on("close", (code) => {
        if (code === 0) resolve(Buffer.concat(pieces));
        else reject(new Error(`The file cannot be read (${task}, exit ${code}).`));
      });
      // A program that has failed reads no further.
      child.stdin.on("error", () => {});
      child.stdin.end(data);
    });
  }
}
