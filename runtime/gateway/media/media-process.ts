import { join } from "node:path";
import { preferOomKill, runtimeProgramFile } from "../../process/programs.ts";

export type Task = "image" | "pdf" | "office";

/** Highest OOM score: the kernel kills this process first if memory runs out. */
const OOM_SCORE = 1_000;
const TASK_MS = 20_000;
/** Shell script that limits processor time to 60 s, even if the gateway has ended. */
const CPU_LIMIT = 'ulimit -t 60; exec "$@"';
/** Limit of V8's heap in megabytes. The decoder's WebAssembly memory is limited by `mostPixels`. */
const HEAP_MB = 192;
const MAX_OUTPUT = 8_000_000;

/**
 * Processes untrusted files in a separate process, one at a time. That process has no keys, can read only its
 * program, and has limits for time and memory.
 */
export class MediaProcess {
  readonly #taskMs: number;
  readonly #program: string;
  #last: Promise<unknown> = Promise.resolve();

  /** Tests replace `program`. */
  constructor({ taskMs = TASK_MS, program = runtimeProgramFile("gateway/media/main") } = {}) {
    this.#taskMs = taskMs;
    this.#program = program;
  }

  /**
   * Returns the program's output.
   *
   * @throws if the program fails, exceeds its time or output limit, or is aborted.
   */
  run(task: Task, data: Uint8Array, signal: AbortSignal): Promise<Buffer> {
    const work = this.#last.then(() => this.#run(task, data, signal));
    this.#last = work.catch(() => undefined);
    return work;
  }

  async #run(task: Task, data: Uint8Array, signal: AbortSignal): Promise<Buffer> {
    signal.throwIfAborted();
    const { spawn } = await import("node:child_process");
    // If run from source, allow all paths: `node_modules` may be in any parent folder.
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
        if (size > MAX_OUTPUT) child.kill("SIGKILL");
        else pieces.push(piece);
      });
      child.on("error", reject);
      child.on("close", (code) => {
        if (code === 0) resolve(Buffer.concat(pieces));
        else reject(new Error(`The file cannot be read (${task}, exit ${code}).`));
      });
      // Ignore write errors: a failed program does not read its input.
      child.stdin.on("error", () => {});
      child.stdin.end(data);
    });
  }
}
