import type { ReplyTarget } from "../../contract/message.ts";
import type { Log } from "../../shared/log.ts";
import type { Channel } from "../channels/channel.ts";
import { RetryableError } from "../failure.ts";

/** An answer that is whole this soon after its first word is sent as such: it costs one request, not two. */
const FIRST_MS = 500;
/** Between two edits. Platforms allow about one a second in a chat. */
const EVERY_MS = 1_000;

/** Dependencies of a draft. */
export interface DraftOptions {
  channel: Channel;
  target: ReplyTarget;
  /** The message of an earlier attempt, which grows further. */
  id?: string;
  /** Keeps the message's id, before anything else is done with it. */
  keep(id: string): void;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/**
 * A reply that grows in one message while it is made. Whatever fails here is left out: the next edit
 * or the whole reply makes up for it. One request at a time, always with the newest text, so that a slow
 * platform gets fewer edits and no queue.
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

  /** The text that the platform took last, in this attempt. */
  get shown(): string {
    return this.#shown;
  }

  /** The text so far; an empty one where the answer starts over. */
  update(soFar: string): void {
    this.#text = soFar;
    if (soFar.trim() !== "") this.#plan();
  }

  /** Ends the growing. Returns when no request is under way, so that the next edit is the last. */
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
      log.debug("a growing reply was not shown", { platform: channel.platform, error: String(error) });
      // A first message may be out although it failed; another would be one too many.
      if (this.#id === undefined) this.#closed = true;
      if (error instanceof RetryableError) this.#notBefore = clock() + (error.retryAfterMs ?? 0);
    }
  }
}
