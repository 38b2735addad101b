import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { addColdStart, type ColdStart, readColdStarts } from "../contract/cold-starts.ts";
import type { Log } from "../shared/log.ts";
import { isRecord, parseJson } from "../shared/json.ts";

/** Small JSON file that is written in the background, so that a ready gateway does not wait for the disk. */
class KeptFile {
  readonly #path: string;
  readonly #log: Log;
  #written: Promise<void> = Promise.resolve();

  constructor(path: string, log: Log) {
    this.#path = path;
    this.#log = log;
  }

  /** Returns this file's text, or `undefined` if the file is missing or unreadable. */
  read(): string | undefined {
    try {
      return readFileSync(this.#path, "utf8");
    } catch {
      return undefined;
    }
  }

  write(value: unknown): void {
    const text = `${JSON.stringify(value)}\n`;
    this.#written = this.#written.then(() => this.#put(text));
  }

  written(): Promise<void> {
    return this.#written;
  }

  async #put(text: string): Promise<void> {
    try {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
      await writeFile(this.#path, text, { mode: 0o600 });
    } catch (error) {
      this.#log.debug("the history of starts cannot be written", { error: String(error) });
    }
  }
}

export class StartHistory {
  readonly #starts: KeptFile;
  readonly #restarts: KeptFile;
  #coldStarts: ColdStart[] | undefined;
  #earlier: number | undefined;

  constructor(folder: string, log: Log) {
    this.#starts = new KeptFile(join(folder, "starts.json"), log);
    this.#restarts = new KeptFile(join(folder, "restarts.json"), log);
  }

  /** Newest first. */
  get coldStarts(): ColdStart[] {
    return (this.#coldStarts ??= readColdStarts(this.#starts.read()));
  }

  /**
   * Number of gateway restarts under previous supervisors, plus one for each previous supervisor that ended without a
   * stop request.
   */
  get earlierRestarts(): number {
    return (this.#earlier ??= readRestarts(this.#restarts.read()));
  }

  add(start: ColdStart): void {
    this.#coldStarts = addColdStart(this.coldStarts, start);
    this.#starts.write(this.#coldStarts);
  }

  /**
   * Records how often this process restarted the gateway.
   *
   * @param isStopped True if a stop request is ending this process.
   */
  note(restarts: number, isStopped: boolean): void {
    this.#restarts.write({ restarts: this.earlierRestarts + restarts, isStopped });
  }

  async written(): Promise<void> {
    await Promise.all([this.#starts.written(), this.#restarts.written()]);
  }
}

function readRestarts(text: string | undefined): number {
  const kept = parseJson(text ?? "");
  if (!isRecord(kept) || !Number.isSafeInteger(kept["restarts"])) return 0;
  return Number(kept["restarts"]) + (kept["isStopped"] === true ? 0 : 1);
}
