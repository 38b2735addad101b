import { createRedactor, type Redactor } from "../../contract/redact.ts";
import type { Environment } from "../../contract/environment.ts";

/** Masks the secrets of the config, also those of a config before: they may still be in use, and in texts. */
export class KnownSecrets {
  readonly #environment: Environment;
  readonly #known = new Set<string>();
  #redactor: Redactor;

  constructor(environment: Environment) {
    this.#environment = environment;
    this.#redactor = createRedactor(environment);
  }

  /** Removes what is known from a text. A function of its own, to be handed on. */
  readonly redact: Redactor = (text) => this.#redactor(text);

  /** Adds secret values. */
  add(secrets: readonly string[]): void {
    for (const secret of secrets) this.#known.add(secret);
    this.#redactor = createRedactor(this.#environment, [...this.#known]);
  }
}
