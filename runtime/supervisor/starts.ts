import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { addColdStart, readColdStarts, type ColdStart } from "../contract/cold-starts.ts";
import type { Log } from "../contract/log.ts";

/** How the gateway's last starts went, in a small file that outlives the container. */
export class Starts {
  readonly #file: string;
  readonly #log: Log;
  #list: ColdStart[] | undefined;
  #written: Promise<void> = Promise.resolve();

  constructor(file: string, log: Log) {
    this.#file = file;
    this.#log = log;
  }

  /** Newest first. */
  get list(): ColdStart[] {
    return (this.#list ??= readColdStarts(this.#read()));
  }

  /** Keeps one; written in the background, since a gateway that is ready has other things to do. */
  add(start: ColdStart): void {
    this.#list = addColdStart(this.list, start);
    const text = `${JSON.stringify(this.#list)}\n`;
    this.#written = this.#written.then(() => this.#write(text));
  }

  async #write(text: string): Promise<void> {
    try {
      await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
      await writeFile(this.#file, text, { mode: 0o600 });
    } catch (error) {
      this.#log.debug("the starts cannot be kept", { error: String(error) });
    }
  }

  #read(): string | undefined {
    try {
      return readFileSync(this.#file, "utf8");
    } catch {
      // None yet, or one that cannot be read: there is nothing to compare a start with.
      return undefined;
    }
  }
}
