import type { Attachment, ButtonPress, Inbound, ReplyTarget } from "../../contract/message.ts";
import type { ChannelHealth } from "../../contract/control.ts";
import type { NameKind, Platform } from "../../contract/delivery.ts";
import type { Button } from "../actions.ts";
import { StewardError, type Reason } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import { RefusedError } from "../failure.ts";
import { catch as recovered, type core, optional } from "zod/mini";

/** A message that was sent. `id` allows a later edit, on platforms that support it. */
interface SentMessage {
  id?: string;
}

/** A file to send. */
export interface OutgoingFile {
  /** File name without a path. */
  name: string;
  /** For example `image/png`. */
  mediaType: string;
  data: Uint8Array<ArrayBuffer>;
}

/** Sends files, on platforms that support it. */
interface FileSender {
  /** Size limit for bots, in bytes, as the platform documents it. */
  readonly maxBytes: number;
  /** Sends one file; resolves when the platform has accepted it. The caption is plain text. */
  send(target: ReplyTarget, file: OutgoingFile, caption?: string): Promise<void>;
}

/**
 * A chat platform. The rest of the gateway does not depend on the platform: payloads, mentions, threads, limits and
 * errors are handled by these methods.
 *
 * Methods that send always reject with a RetryableError if the platform does not accept the request.
 */
export interface Channel {
  readonly platform: Platform;

  /** True if a reply is updated by edits while it is generated; otherwise it is sent once it is complete. */
  readonly streams: boolean;

  /** Files larger than this, in bytes, are only mentioned in the question. */
  readonly mediaMaxBytes: number;

  /** The bot's identity, on platforms that address it by name. The name is `undefined` until the platform was asked. */
  readonly bot?: { readonly id: string; readonly username: string | undefined };

  /**
   * Parses one event. Sends and stores nothing, so that an event that needs no reply costs nothing, and a retried event
   * gives the same result as long as the sender's access is unchanged.
   */
  receive(payload: Record<string, unknown>): Inbound;

  /** Returns the parts of an event that are neither read nor skipped on purpose, such as `message.hologram`. */
  unknownParts(payload: Record<string, unknown>): string[];

  /** Records a group's new id: its messages continue under the former id. */
  moved?(move: Pick<Extract<Inbound, { kind: "moved" }>, "former" | "chat">): void;

  /**
   * Splits a reply into messages that the platform accepts. Separate from `send`, so that a retry continues after the
   * last message sent.
   */
  split(text: string): string[];

  /**
   * Sends one message; resolves when the platform has accepted it. `part` is the message's index in the reply.
   * `buttons` appear below it, if the channel has `answerPress`.
   */
  send(target: ReplyTarget, text: string, part?: number, buttons?: readonly Button[]): Promise<SentMessage>;

  /**
   * Acknowledges a button press. With `done`, the buttons are removed. Best effort: never rejects. Absent if messages
   * cannot have buttons.
   */
  answerPress?(press: ButtonPress, word: string, done: boolean): Promise<void>;

  /**
   * Asks the platform for the name of a person or a place. `undefined` if it has none. Rejects if the platform does not
   * tell it. Absent where events carry all names.
   */
  nameOf?(kind: NameKind, id: string): Promise<string | undefined>;

  /** Returns the id of the direct chat with a person, on platforms where it differs from the person's id. */
  directChat?(person: string): Promise<string>;

  /** Absent if files cannot be sent. */
  readonly files?: FileSender;

  /** Replaces the text of a message that was sent. Only if `streams` is true. */
  edit?(target: ReplyTarget, id: string, text: string): Promise<void>;

  /** Shows a typing indicator for `typingMs`. Best effort: never rejects. */
  typing?(target: ReplyTarget): Promise<void>;

  /** Interval in milliseconds at which the typing indicator is renewed. Default: six seconds. */
  readonly typingMs?: number;

  /** Milliseconds that an answer has to take for the typing indicator to be shown. Default: shown at once. */
  readonly typingAfterMs?: number;

  /** Adds the configured reaction to a message that will be answered. Best effort: never rejects. */
  react?(target: ReplyTarget, message: string): Promise<void>;

  /** Removes the pending answer of an event that gets none (a deferred interaction). */
  dismiss?(target: ReplyTarget): Promise<void>;

  /** Fetches a file of at most `mediaMaxBytes`. Rejects if it is larger or unavailable. */
  load?(attachment: Attachment, signal: AbortSignal): Promise<Uint8Array>;

  /** Checks if the platform accepts the credentials; `health` has the result. Never rejects. */
  probe(): Promise<void>;

  /** Returns the platform's state without a request. */
  health(): ChannelHealth;
}

/** Returns the id of a chat's transcript: one per direct chat, and one per group including all its threads. */
export function sessionOf(platform: string, { chat }: Pick<ReplyTarget, "chat">): string {
  return `${platform}:${chat}`;
}

/** Dependencies of {@link OutgoingHealth}. */
export interface OutgoingHealthOptions {
  platform: Platform;
  /** Maps a platform's error to a StewardError. Default: unchanged. */
  read?(error: unknown): unknown;
  log: Log;
}

/** Health of a platform for outgoing requests: the last failure, until a request succeeds. */
export class OutgoingHealth {
  readonly #options: OutgoingHealthOptions;
  #failure: Reason | undefined;
  #answered = false;
  /** A probe has found the failure, so a successful probe clears it. */
  #probed = false;

  constructor(options: OutgoingHealthOptions) {
    this.#options = options;
  }

  /** Sends something, and records the result. Rejects with the mapped error. */
  async out<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      this.#answered = true;
      this.#failure = undefined;
      return result;
    } catch (error) {
      throw this.note(error);
    }
  }

  /** Asks the platform about the credentials. Never rejects. Success does not end a failure of another request. */
  async probe(ask: () => Promise<unknown>): Promise<void> {
    try {
      await ask();
      this.#answered = true;
      if (this.#probed) this.#failure = undefined;
    } catch (error) {
      const former = this.#failure;
      this.note(error);
      if (this.#failure !== former) this.#probed = true;
    }
  }

  /** Records a failure, and returns the mapped error. The refusal of one chat is no failure of the channel. */
  note(error: unknown): unknown {
    const { platform, read, log } = this.#options;
    const told = read?.(error) ?? error;
    if (told instanceof StewardError && !(told instanceof RefusedError)) {
      this.#failure = told.reason;
      this.#probed = false;
      log.error("a platform did not take a request", { platform, ...told.reason });
    }
    return told;
  }

  /** Returns the channel's health from outgoing requests, and from what is known of incoming ones. */
  health(incoming: { reason?: Reason; answered?: boolean } = {}): ChannelHealth {
    const { platform } = this.#options;
    const why = this.#failure ?? incoming.reason;
    if (why !== undefined) return { platform, state: "failing", reason: why };
    return { platform, state: this.#answered || incoming.answered ? "ready" : "unknown" };
  }
}

/**
 * Known fields of a part of a payload. `read`: those of a schema. `left`: documented, but ignored on purpose. All
 * others are unknown to this version.
 */
interface Fields {
  read: Readonly<Record<string, unknown>>;
  left: readonly string[];
}

/** Returns the fields of a part that are neither read nor left out on purpose, with the part's name before them. */
export function unknownFields(part: unknown, name: string, { read, left }: Fields): string[] {
  if (typeof part !== "object" || part === null) return [];
  const known = new Set([...Object.keys(read), ...left]);
  return Object.keys(part)
    .filter((field) => !known.has(field))
    .map((field) => (name === "" ? field : `${name}.${field}`));
}

/**
 * An optional part of a platform's message. A part that is `null` or has another form than documented is left out, and the
 * rest is read, so that a platform's change loses no text.
 */
export const maybe = <T extends core.$ZodType>(part: T) => recovered(optional(part), undefined);
