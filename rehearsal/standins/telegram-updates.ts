/** Telegram's description of a 409 error. */
export interface Conflict {
  conflict: string;
}

const TERMINATED =
  "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
const WEBHOOK_ACTIVE =
  "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";

/** An update: its id and one field, such as `message`, that describes the event. */
export type Update = { update_id: number } & Record<string, unknown>;

export interface Webhook {
  url: string;
  secret: string;
  /** Kinds of updates that the bot requested. `getWebhookInfo` reports them, but the stand-in delivers all kinds. */
  allowedUpdates?: string[];
  /** Default: 40, as at Telegram. */
  maxConnections?: number;
}

/**
 * A bot's queue of updates (https://core.telegram.org/bots/api#getting-updates). A long poll ends at the first
 * update, at its timeout, or when another poll starts.
 */
export class Updates {
  /**
   * Id of the next update. The first id is the current time in seconds, so that ids increase across restarts of the
   * stand-in. The gateway ignores lower ids.
   */
  #nextId = Math.floor(Date.now() / 1_000);
  #pending: Update[] = [];
  #poll: ((answer: Update[] | Conflict) => void) | undefined;
  #webhook: Webhook | undefined;
  /** Lowest id that is not confirmed. Updates with lower ids are dropped. */
  offset = 0;
  lastError: string | undefined;
  /** Long polls ended by another poll. */
  conflicts = 0;
  #pushing = Promise.resolve();

  get pending(): readonly Update[] {
    return this.#pending;
  }

  get webhook(): Webhook | undefined {
    return this.#webhook;
  }

  get polled(): boolean {
    return this.#poll !== undefined;
  }

  /** Queues an update and delivers it to the open poll or the webhook. */
  add(content: Record<string, unknown>): Update {
    const update = { update_id: this.#nextId, ...content };
    this.#nextId += 1;
    this.#pending.push(update);
    this.#poll?.([...this.#pending]);
    if (this.#webhook !== undefined) this.#pushing = this.#pushing.then(() => this.#push());
    return update;
  }

  /** Implements `getUpdates`. A long poll also ends when `signal` is aborted. */
  get(
    offset: number | undefined,
    limit: number,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<Update[] | Conflict> {
    if (this.#webhook !== undefined) return Promise.resolve({ conflict: WEBHOOK_ACTIVE });
    if (this.#poll !== undefined) {
      this.conflicts += 1;
      this.#poll({ conflict: TERMINATED });
    }
    if (offset !== undefined) {
      this.offset = Math.max(this.offset, offset);
      this.#pending = this.#pending.filter(({ update_id: id }) => id >= offset);
    }
    if (this.#pending.length > 0 || timeoutMs === 0) return Promise.resolve(this.#pending.slice(0, limit));
    return new Promise((resolve) => {
      const end = (answer: Update[] | Conflict): void => {
        clearTimeout(timer);
        if (this.#poll === end) this.#poll = undefined;
        resolve(answer);
      };
      const timer = setTimeout(() => end([]), timeoutMs);
      this.#poll = end;
      signal.addEventListener("abort", () => end([]), { once: true });
    });
  }

  setWebhook(webhook: Webhook | undefined, dropPending: boolean): void {
    this.#webhook = webhook;
    if (dropPending) this.#pending = [];
    if (webhook === undefined) return;
    this.#poll?.({ conflict: "Conflict: terminated by setWebhook request" });
    this.#pushing = this.#pushing.then(() => this.#push());
  }

  /** Delivers pending updates to the webhook in order. Tries each up to ten times, one second apart. */
  async #push(): Promise<void> {
    for (const update of this.#pending) {
      for (let attempt = 0; attempt < 10 && this.#webhook !== undefined; attempt += 1) {
        this.lastError = await deliver(this.#webhook, update);
        if (this.lastError === undefined) {
          this.#pending = this.#pending.filter((one) => one !== update);
          break;
        }
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
    }
  }
}

/**
 * Delivers an update to the webhook. Returns the error message that Telegram would report; `undefined` on success.
 */
async function deliver({ url, secret }: Webhook, update: Update): Promise<string | undefined> {
  const headers = {
    "content-type": "application/json",
    ...(secret !== "" && { "x-telegram-bot-api-secret-token": secret }),
  };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(update) }).catch(
    () => undefined,
  );
  if (response === undefined) return "Connection refused";
  return response.ok
    ? undefined
    : `Wrong response from the webhook: ${response.status} ${response.statusText}`;
}
