import type { Attachment, ButtonPress, Inbound, ReplyTarget } from "../../contract/message.ts";
import type { BotAccount, ChannelHealth } from "../../contract/control.ts";
import type { NameKind, Platform } from "../../contract/delivery.ts";
import type { Button } from "../actions.ts";
import { type ErrorCode, type Reason, StewardError } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import { RefusedError } from "../failure.ts";

interface SentMessage {
  /** Id of the sent message, for later edits. Absent if the platform returns none. */
  id?: string;
}

export interface OutgoingFile {
  /** File name without a path. */
  name: string;
  mediaType: string;
  data: Uint8Array<ArrayBuffer>;
}

interface FileSender {
  /** Documented upload limit for bots, in bytes. */
  readonly maxBytes: number;
  /** Sends a file. Resolves when the platform has accepted it. The caption is plain text. */
  send(target: ReplyTarget, file: OutgoingFile, caption?: string): Promise<void>;
}

/**
 * A chat platform. Methods that send something reject with a RetryableError if the failure is temporary, otherwise
 * with a RefusedError.
 */
export interface Channel {
  readonly platform: Platform;

  /** True if a reply is sent early and edited while it is generated. Otherwise it is sent when it is complete. */
  readonly streams: boolean;

  /** Maximum size of a received file in bytes. The content of larger files is not passed to the model. */
  readonly mediaMaxBytes: number;

  /**
   * The bot's identity, on platforms where people address it by name. `username` is `undefined` until the platform
   * returns it.
   */
  readonly bot?: { readonly id: string; readonly username: string | undefined };

  /** Parses one event without sending or storing anything. */
  receive(payload: Record<string, unknown>): Inbound;

  /** Returns the names of payload fields that the channel does not know, such as `message.hologram`. */
  unknownParts(payload: Record<string, unknown>): string[];

  /** Records a group's new id. The group's messages are still stored under its first id. */
  moved?(move: Pick<Extract<Inbound, { kind: "moved" }>, "former" | "chat">): void;

  /** Splits a reply into messages that the platform accepts. */
  split(text: string): string[];

  /**
   * Sends one message. Resolves when the platform has accepted it. `part` is the message's index in the reply. Pass
   * `buttons` only if the channel implements `answerPress`.
   */
  send(target: ReplyTarget, text: string, part?: number, buttons?: readonly Button[]): Promise<SentMessage>;

  /**
   * Answers a button press with the text `word`, and removes the buttons if `done`. Never rejects. Absent if messages
   * cannot have buttons.
   */
  answerPress?(press: ButtonPress, word: string, done: boolean): Promise<void>;

  /**
   * Fetches the name of a person or place. Resolves to `undefined` if there is none; rejects if the platform refuses.
   * Channels whose events include all names omit this method.
   */
  nameOf?(kind: NameKind, id: string): Promise<string | undefined>;

  /** Returns the id of the direct chat with a person. Absent on platforms where this id equals the person's id. */
  directChat?(person: string): Promise<string>;

  /** Absent if files cannot be sent. */
  readonly files?: FileSender;

  edit?(target: ReplyTarget, id: string, text: string): Promise<void>;

  /** Shows or renews the typing indicator. Never rejects. */
  typing?(target: ReplyTarget): Promise<void>;

  /** Milliseconds between renewals of the typing indicator. Default: 6000. */
  readonly typingMs?: number;

  /** Milliseconds before the typing indicator is shown. Default: 0. */
  readonly typingAfterMs?: number;

  /** Adds the configured reaction. Never rejects. */
  react?(target: ReplyTarget, message: string): Promise<void>;

  /** Removes the indicator of a pending answer. Call it if no answer will follow. */
  dismiss?(target: ReplyTarget): Promise<void>;

  /** Downloads an attachment. Rejects if it is unavailable or larger than `mediaMaxBytes`. */
  load?(attachment: Attachment, signal: AbortSignal): Promise<Uint8Array>;

  /** Checks the credentials, so that `health` includes the result. Never rejects. */
  probe(): Promise<void>;

  health(): ChannelHealth;
}

/** Returns a chat's session id. All threads of a group share one session. */
export function sessionOf(platform: string, { chat }: Pick<ReplyTarget, "chat">): string {
  return `${platform}:${chat}`;
}

export interface OutgoingHealthOptions {
  platform: Platform;
  /** Converts a platform's error to a StewardError. Default: no conversion. */
  read?(error: unknown): unknown;
  /** Error code of a refused token. Such a failure lasts until {@link OutgoingHealth.tokenTaken}. */
  tokenRefused?: ErrorCode;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/** Tracks a platform's outgoing requests. Stores the last failure until a request succeeds. */
export class OutgoingHealth {
  readonly #options: OutgoingHealthOptions;
  #failure: Reason | undefined;
  #refusal: Reason | undefined;
  #answered = false;
  #bot: ChannelHealth["bot"];
  /** True if a probe found the current failure. */
  #probed = false;

  constructor(options: OutgoingHealthOptions) {
    this.#options = options;
  }

  /**
   * Runs a request and records its outcome. If the request fails, rejects with its error, converted by {@link
   * OutgoingHealthOptions.read}.
   */
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

  tokenTaken(): void {
    this.#refusal = undefined;
  }

  /**
   * Checks the credentials by requesting the bot's account. Never rejects. Success clears only failures that an
   * earlier probe found.
   */
  async probe(ask: () => Promise<BotAccount>): Promise<void> {
    try {
      const { id, name } = await ask();
      const at = new Date(this.#options.clock()).toISOString();
      if (id || name) this.#bot = { ...(id && { id }), ...(name && { name }), at };
      this.#answered = true;
      if (this.#probed) this.#failure = undefined;
    } catch (error) {
      const former = this.#failure;
      this.note(error);
      if (this.#failure !== former) this.#probed = true;
    }
  }

  /**
   * Returns `error`, converted by {@link OutgoingHealthOptions.read}. Records the converted error as the platform's
   * last failure if the converted error is a StewardError but not a RefusedError. A RefusedError is not recorded,
   * because it concerns only one chat or one message.
   */
  note(error: unknown): unknown {
    const { platform, read, tokenRefused, log } = this.#options;
    const told = read?.(error) ?? error;
    if (told instanceof StewardError && !(told instanceof RefusedError)) {
      if (told.code === tokenRefused) {
        this.#refusal = told.reason;
      } else {
        this.#failure = told.reason;
        this.#probed = false;
      }
      log.error("a platform rejected a request", { platform, ...told.reason });
    }
    return told;
  }

  /** `incoming` describes whether the channel receives events. */
  health(incoming: { reason?: Reason; answered?: boolean } = {}): ChannelHealth {
    const { platform } = this.#options;
    const why = this.#refusal ?? this.#failure ?? incoming.reason;
    const bot = this.#bot && { bot: this.#bot };
    if (why !== undefined) return { platform, state: "failing", reason: why, ...bot };
    return { platform, state: this.#answered || incoming.answered ? "ready" : "unknown", ...bot };
  }
}

/**
 * Known fields of an object in a payload: those that the channel reads, and documented ones that it ignores on
 * purpose.
 */
interface Fields {
  read: Readonly<Record<string, unknown>>;
  left: readonly string[];
}

/** Returns the paths of fields that are neither read nor ignored on purpose. */
export function unknownFields(part: unknown, name: string, { read, left }: Fields): string[] {
  if (typeof part !== "object" || part === null) return [];
  const known = new Set([...Object.keys(read), ...left]);
  return Object.keys(part)
    .filter((field) => !known.has(field))
    .map((field) => (name === "" ? field : `${name}.${field}`));
}
