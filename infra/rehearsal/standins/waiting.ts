/** Who waits for a message that the bot is to send. */
export class Waiting<Message> {
  readonly #platform: string;
  readonly #messages: readonly Message[];
  readonly #looks = new Set<() => void>();

  /** `messages` is the list that grows; each change of it is told by {@link changed}. */
  constructor(platform: string, messages: readonly Message[]) {
    this.#platform = platform;
    this.#messages = messages;
  }

  changed(): void {
    for (const look of this.#looks) look();
  }

  /** Resolves with the first message that fits, now or later; rejects after `timeoutMs`. */
  for(fits: (message: Message) => boolean, timeoutMs: number): Promise<Message> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#looks.delete(look);
      };
      const look = (): void => {
        const found = this.#messages.find(fits);
        if (found === undefined) return;
        end();
        resolve(found);
      };
      const timer = setTimeout(() => {
        end();
        reject(new Error(`no message reached the ${this.#platform} stand-in within ${timeoutMs} ms`));
      }, timeoutMs);
      this.#looks.add(look);
      look();
    });
  }
}
