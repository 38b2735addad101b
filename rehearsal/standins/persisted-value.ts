import { existsSync, readFileSync, writeFileSync } from "node:fs";

/**
 * Registrations at a stand-in, which survive a restart as they do on a real platform: the stack's state still lists
 * them. Without a file they last as long as the stand-in runs.
 */
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
