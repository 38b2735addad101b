import { existsSync, readFileSync, writeFileSync } from "node:fs";

/**
 * What was registered at a stand-in, from run to run: the stack's state says that it is there, and a real
 * platform would still know it. Without a file it is kept as long as the stand-in runs.
 */
export class Kept<Value> {
  readonly #file: string | undefined;
  #value: Value;

  constructor(file: string | undefined, first: Value) {
    this.#file = file;
    this.#value = file !== undefined && existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : first;
  }

  get value(): Value {
    return this.#value;
  }

  set value(value: Value) {
    this.#value = value;
    if (this.#file !== undefined) writeFileSync(this.#file, JSON.stringify(value), { mode: 0o600 });
  }
}
