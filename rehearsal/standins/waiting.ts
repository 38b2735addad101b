export class Waiting<Message> {
  readonly #platform: string;
  readonly #messages: readonly Message[];
  readonly #looks = new Set<(message: Message) => void>();

  /**
   * Waits for messages in a growing list. Call {@link changed} for each message that is added to `messages` or edited.
   */
  constructor(platform: string, messages: readonly Message[]) {
    this.#platform = platform;
    this.#messages = messages;
  }

  changed(message: Message): void {
    for (const look of this.#looks) look(message);
  }

  /** Resolves with the first message that fits, existing or future; rejects after `timeoutMs`. */
  for(fits: (message: Message) => boolean, timeoutMs: number): Promise<Message> {
    return new Promise((resolve, reject) => {
      const there = this.#messages.find(fits);
      if (there !== undefined) return resolve(there);
      const look = (message: Message): void => {
        if (!fits(message)) return;
        clearTimeout(timer);
        this.#looks.delete(look);
        resolve(message);
      };
      const timer = setTimeout(() => {
        this.#looks.delete(look);
        reject(new Error(`no message reached the ${this.#platform} stand-in within ${timeoutMs} ms`));
      }, timeoutMs);
      this.#looks.add(look);
    });
  }
}
