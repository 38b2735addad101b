import { existsSync, readFileSync, writeFileSync } from "node:fs";

/** Value of a stand-in. Survives restarts if a file is given. */
export class PersistedValue<Value> {
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
