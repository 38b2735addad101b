import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { CommandOutput } from "../infra/shell/command.ts";
import { isInterruption } from "./signals.ts";

const TAIL_LINES = 15;
const REDRAW_MS = 200;

/** Runs one step and reports it as one line. */
export type RunStep = <T>(what: string, work: () => Promise<T>) => Promise<T>;

export interface ProgressOptions {
  output: Pick<CommandOutput, "say" | "status">;
  /** Log file for the steps' output. A new run overwrites the file. */
  file: string;
  /** True to also print the steps' output. */
  verbose: boolean;
}

/**
 * Reports each step as one line with its duration. Output goes to a file; if a step fails, its last lines of output
 * are printed.
 */
export class Progress {
  /** Path of the log; relative if the file is in or below the working folder. */
  readonly file: string;
  readonly #options: ProgressOptions;
  #details: string[] = [];

  constructor(options: ProgressOptions) {
    this.#options = options;
    const near = path.relative(process.cwd(), options.file);
    this.file = near.startsWith("..") ? options.file : near;
    mkdirSync(path.dirname(options.file), { recursive: true, mode: 0o700 });
    writeFileSync(options.file, "", { mode: 0o600 });
  }

  /** Logs text unchanged. */
  readonly detail = (text: string): void => {
    const { file, verbose, output } = this.#options;
    appendFileSync(file, text);
    this.#details.push(text);
    if (verbose) output.say(text);
  };

  readonly log = (line: string): void => this.detail(`${line}\n`);

  readonly step: RunStep = async (what, work) => {
    const { output, file, verbose } = this.#options;
    const { status } = output;
    const started = performance.now();
    const seconds = (): string => `${((performance.now() - started) / 1_000).toFixed(1)} s`;
    appendFileSync(file, `# ${what}\n`);
    this.#details = [];
    const isLive = status !== undefined && !verbose;
    const redraw = (): void => status?.(`${what} … ${seconds()}`);
    const timer = isLive ? setInterval(redraw, REDRAW_MS).unref() : undefined;
    if (isLive) redraw();
    else output.say(verbose ? `${what} …\n` : `${what} … `);
    const end = (outcome: string): void => {
      clearInterval(timer);
      if (isLive) status("");
      output.say(isLive || verbose ? `${what} … ${outcome}\n` : `${outcome}\n`);
    };
    try {
      const result = await work();
      end(`done in ${seconds()}`);
      return result;
    } catch (error) {
      const isInterrupted = isInterruption(error);
      end(`${isInterrupted ? "interrupted" : "failed"} after ${seconds()}`);
      if (!isInterrupted) this.#printTail();
      throw error;
    }
  };

  #printTail(): void {
    const { output, verbose } = this.#options;
    const lines = this.#details.join("").trimEnd().split("\n").filter(Boolean).slice(-TAIL_LINES);
    if (!verbose) output.say(lines.map((line) => `  ${line}\n`).join(""));
    output.say(`Full log: ${this.file}\n`);
  }
}
