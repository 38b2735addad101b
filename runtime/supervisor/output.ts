import { appendFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Redactor } from "../shared/redact.ts";

const LONGEST_LINE = 8 * 1024;
/** Of a line that does not end, this much is held until it is cut. */
const LONGEST_BUFFER = 64 * 1024;
const KEPT_LINES = 500;
const KEPT_STDERR = 200;

/** Destination of the gateway's output. */
export interface OutputOptions {
  /** The log file; one older generation is kept beside it as `<file>.1`. */
  file: string;
  /** Bytes of one generation. */
  limitBytes: number;
  redact: Redactor;
  /** The first line's number. A number that increases with each start lets a reader continue after the last line. */
  firstNumber: number;
  /** Receives every line as well, redacted, without its line feed. */
  onLine(line: string): void;
  /** The file cannot be written. Logged once; the output in memory continues. */
  onFileError(error: unknown): void;
}

/**
 * Output of the gateway: the last lines in memory, more of them in a file of bounded size. Nothing
 * is kept or handed on before it is redacted, and redaction sees whole lines.
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

  /** The number that the next line gets. */
  get next(): number {
    return this.#next;
  }

  /** Takes a piece of output as it came. */
  write(stream: "stdout" | "stderr", text: string): void {
    const [...lines] = (this.#partial[stream] + text).split("\n");
    const rest = lines.pop() ?? "";
    this.#partial[stream] = rest.length > LONGEST_BUFFER ? "" : rest;
    if (rest.length > LONGEST_BUFFER) lines.push(rest);
    for (const line of lines) this.#add(stream, line);
  }

  /** Ends a run: what has no line feed yet becomes a line. Returns what it wrote to standard error. */
  endRun(): string[] {
    for (const stream of ["stdout", "stderr"] as const) {
      if (this.#partial[stream] !== "") this.#add(stream, this.#partial[stream]);
      this.#partial[stream] = "";
    }
    const stderr = this.#stderr;
    this.#stderr = [];
    return stderr;
  }

  /** The last lines, oldest first: from a number on, where it is one of theirs. */
  tail(from = 0): string[] {
    const known = from <= this.#next ? this.#next - from : KEPT_LINES;
    return known === 0 ? [] : this.#lines.slice(-known);
  }

  #add(stream: "stdout" | "stderr", raw: string): void {
    const { redact, onLine } = this.#options;
    // Redacted first: a cut through a secret would leave a piece that nothing recognises.
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
