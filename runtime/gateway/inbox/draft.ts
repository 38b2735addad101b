import type { ReplyTarget } from "../../contract/message.ts";
import type { Log } from "../../shared/log.ts";
import type { Channel } from "../channels/channel.ts";
import { RetryableError } from "../failure.ts";

/** Delay in milliseconds before a draft's first message, so that a quick answer needs only one request. */
const FIRST_MS = 500;
/** Milliseconds between edits. Platforms allow about one edit per second in a chat. */
const EVERY_MS = 1_000;

export interface DraftOptions {
  channel: Channel;
  target: ReplyTarget;
  /** Id of a message that an earlier attempt began and this one continues. */
  id?: string;
  /** Persists the message's id, so that a retry edits the same message. */
  keep(id: string): void;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/**
 * Shows a reply while it is generated, by editing one message. Ignores errors, because a later edit repeats the text.
 * Sends one request at a time, so that a slow platform gets fewer edits.
 */
export class Draft {
  readonly #options: DraftOptions;
  #id: string | undefined;
  #text = "";
  #shown = "";
  #begunAt: number | undefined;
  #notBefore = 0;
  #timer: { due: number; handle: NodeJS.Timeout } | undefined;
  #request: Promise<void> | undefined;
  #closed = false;

  constructor(options: DraftOptions) {
    this.#options = options;
    this.#id = options.id;
  }

  /** Text that the platform last accepted. */
  get shown(): string {
    return this.#shown;
  }

  /** Sets the answer's text so far. An empty string means that the answer starts over. */
  update(soFar: string): void {
    this.#text = soFar;
    if (soFar.trim() !== "") this.#plan();
  }

  /** Stops updates and waits for the request in flight, so that the caller's edit is the last. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer?.handle);
    await this.#request;
  }

  #plan(): void {
    if (this.#closed || this.#request !== undefined) return;
    const now = this.#options.clock();
    this.#begunAt ??= now;
    const first = this.#id === undefined ? this.#begunAt + FIRST_MS : now;
    const due = Math.max(this.#notBefore, first, now);
    if (this.#timer !== undefined && this.#timer.due <= due) return;
    clearTimeout(this.#timer?.handle);
    const handle = setTimeout(() => this.#show(), Math.max(0, due - now)).unref();
    this.#timer = { due, handle };
  }

  #show(): void {
    this.#timer = undefined;
    const { channel, clock } = this.#options;
    const text = channel.split(this.#text)[0];
    if (this.#closed || text === undefined || text === this.#shown) return;
    this.#request = this.#put(text).finally(() => {
      this.#request = undefined;
      this.#notBefore = Math.max(this.#notBefore, clock() + EVERY_MS);
      if (this.#text.trim() !== "") this.#plan();
    });
  }

  async #put(text: string): Promise<void> {
    const { channel, target, keep, clock, log } = this.#options;
    try {
      if (this.#id === undefined) {
        const { id } = await channel.send(target, text, 0);
        if (id === undefined) throw new Error("the platform named no message");
        keep(id);
        this.#id = id;
      } else {
        await channel.edit?.(target, this.#id, text);
      }
      this.#shown = text;
    } catch (error) {
      log.debug("a partial reply could not be shown", { platform: channel.platform, error: String(error) });
      // The first message may have been delivered despite the error. Another one could duplicate it.
      if (this.#id === undefined) this.#closed = true;
      if (error instanceof RetryableError) this.#notBefore = clock() + (error.retryAfterMs ?? 0);
    }
  }
}
