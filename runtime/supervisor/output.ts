import { appendFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Redactor } from "../shared/redact.ts";

const LONGEST_LINE = 8 * 1024;
/** Maximum length of an unfinished line, in characters. A longer line counts as finished. */
const LONGEST_BUFFER = 64 * 1024;
const KEPT_LINES = 500;
const KEPT_STDERR = 200;

export interface OutputOptions {
  /** Log file. The previous file is `<file>.1`. */
  file: string;
  /** Size limit per file, in bytes. */
  limitBytes: number;
  redact: Redactor;
  /**
   * Number of the first output line. Each new supervisor begins with a higher number, so readers can tell which lines
   * are new.
   */
  firstNumber: number;
  /** Receives every redacted line, without its line feed. */
  onLine(line: string): void;
  /** Called once, if the file cannot be written. Later lines stay only in memory. */
  onFileError(error: unknown): void;
}

/**
 * Stores the gateway's last lines of output in memory, and more of them in a file of limited size. Redacts every line
 * first.
 */
export class Output {
  readonly #options: OutputOptions;
  readonly #partial = { stdout: "", stderr: "" };
  #lines: string[] = [];
  #next: number;
  #stderr: string[] = [];
  #size: number | undefined;
  #fileBroken = false;

  constructor(options: OutputOptions) {
    this.#options = options;
    this.#next = options.firstNumber;
  }

  get next(): number {
    return this.#next;
  }

  /** Takes a chunk of output, which may end within a line. */
  write(stream: "stdout" | "stderr", text: string): void {
    const [...lines] = (this.#partial[stream] + text).split("\n");
    const rest = lines.pop() ?? "";
    this.#partial[stream] = rest.length > LONGEST_BUFFER ? "" : rest;
    if (rest.length > LONGEST_BUFFER) lines.push(rest);
    for (const line of lines) this.#add(stream, line);
  }

  /** Ends a run and stores its unfinished lines. @returns the run's standard error */
  endRun(): string[] {
    for (const stream of ["stdout", "stderr"] as const) {
      if (this.#partial[stream] !== "") this.#add(stream, this.#partial[stream]);
      this.#partial[stream] = "";
    }
    const stderr = this.#stderr;
    this.#stderr = [];
    return stderr;
  }

  /**
   * Returns the lines in memory from number `from` on, oldest first. An impossible number (above {@link next})
   * returns all lines.
   */
  tail(from = 0): string[] {
    const known = from <= this.#next ? this.#next - from : KEPT_LINES;
    return known === 0 ? [] : this.#lines.slice(-known);
  }

  #add(stream: "stdout" | "stderr", raw: string): void {
    const { redact, onLine } = this.#options;
    // Redact before cutting: redaction would miss a truncated secret.
    const clean = redact(raw.replace(/\r$/, ""));
    const line = clean.length > LONGEST_LINE ? `${clean.slice(0, LONGEST_LINE)}… [cut]` : clean;
    this.#lines = [...this.#lines.slice(1 - KEPT_LINES), line];
    this.#next += 1;
    if (stream === "stderr") this.#stderr = [...this.#stderr.slice(1 - KEPT_STDERR), line];
    this.#append(`${line}\n`);
    onLine(line);
  }

  #append(text: string): void {
    if (this.#fileBroken) return;
    const { file, limitBytes, onFileError } = this.#options;
    try {
      this.#size ??= openedSize(file);
      const bytes = Buffer.byteLength(text);
      if (this.#size > 0 && this.#size + bytes > limitBytes) {
        renameSync(file, `${file}.1`);
        this.#size = 0;
      }
      appendFileSync(file, text, { mode: 0o600 });
      this.#size += bytes;
    } catch (error) {
      this.#fileBroken = true;
      onFileError(error);
    }
  }
}

function openedSize(file: string): number {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
