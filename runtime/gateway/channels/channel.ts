import type { Admission, Attachment, ButtonPress, Inbound, ReplyTarget } from "../../contract/message.ts";
import type { ChannelHealth } from "../../contract/control.ts";
import type { Platform } from "../../contract/delivery.ts";
import type { Button } from "../actions.ts";

/** Decision whether a sender may be answered, and why: every decision can be looked up in the log. */
export type AccessDecision =
  | { allowed: true; admission: Admission; reason: string }
  /** `answer`: no reply; the sender learns how to be allowed; it is offered a pairing code. */
  | { allowed: false; reason: string; answer: "ignore" | "refuse" | "pair" };

/** A message that is out. `id` names it for a later edit, where the platform allows one. */
interface SentMessage {
  id?: string;
}

/** A file that goes out. */
export interface OutgoingFile {
  /** Without a folder. */
  name: string;
  /** For example `image/png`. */
  mediaType: string;
  data: Uint8Array<ArrayBuffer>;
}

/** The sending of files on a platform that takes them. */
interface FileSender {
  /** Bytes of the largest file that a bot may send, as the platform documents it. */
  readonly maxBytes: number;
  /** Sends one file and returns when the platform has it. The caption is plain text. */
  send(target: ReplyTarget, file: OutgoingFile, caption?: string): Promise<void>;
}

/**
 * A chat platform. The gateway never asks which one it is: what is particular about a platform
 * (payloads, mentions, threads, limits, errors) stays behind these methods.
 *
 * Whatever goes out rejects with a RetryableError where the platform does not take it, always.
 */
export interface Channel {
  readonly platform: Platform;

  /** A reply grows by edits while it is made. Else it is sent when it is whole. */
  readonly streams: boolean;

  /** Bytes of a file above which it stays a placeholder. */
  readonly mediaMaxBytes: number;

  /**
   * Reads one event. Nothing goes out and nothing is stored, so that an event that needs no reply costs
   * nothing, and the same event read again (a retry) reads the same while the sender's standing does.
   */
  receive(payload: Record<string, unknown>): Inbound;

  /** Returns the parts of an event that are neither read nor left out on purpose, such as `message.hologram`. */
  unknownParts(payload: Record<string, unknown>): string[];

  /** Keeps that a group has another id: its messages are read under the former one. */
  moved?(move: Pick<Extract<Inbound, { kind: "moved" }>, "former" | "chat">): void;

  /**
   * Cuts a reply into messages the platform takes. Apart from `send`, so that a retry continues
   * behind the last message that went out.
   */
  split(text: string): string[];

  /**
   * Sends one message and returns when the platform has it. `part` counts the reply's messages from 0. `buttons` stand
   * below it, where the channel has `answerPress`.
   */
  send(target: ReplyTarget, text: string, part?: number, buttons?: readonly Button[]): Promise<SentMessage>;

  /**
   * Ends the platform's wait for a word on a press. With `done` the buttons go. Best effort: it never rejects. Only where
   * messages may have buttons.
   */
  answerPress?(press: ButtonPress, word: string, done: boolean): Promise<void>;

  /** Returns the direct chat with a person, where its id is not the person's. */
  directChat?(person: string): Promise<string>;

  /** Sends files. Absent where none can be sent. */
  readonly files?: FileSender;

  /** Replaces the text of a message that is out. Only where `streams`. */
  edit?(target: ReplyTarget, id: string, text: string): Promise<void>;

  /** Shows that an answer is being made, for `typingMs`. Best effort: it never rejects. */
  typing?(target: ReplyTarget): Promise<void>;

  /** Milliseconds after which it is shown again. Default: six seconds. */
  readonly typingMs?: number;

  /** Sets the reaction of the config on a message that is going to be answered. Best effort: it never rejects. */
  react?(target: ReplyTarget, message: string): Promise<void>;

  /** Nothing will be said to an event that the platform shows as being answered (a deferred interaction). */
  dismiss?(target: ReplyTarget): Promise<void>;

  /** Fetches a file, at most `mediaMaxBytes` of it. Rejects where it is larger or cannot be had. */
  load?(attachment: Attachment, signal: AbortSignal): Promise<Uint8Array>;

  /** Asks the platform whether it takes the credentials; the answer is in `health`. It never rejects. */
  probe(): Promise<void>;

  /** Returns how the platform answers, without asking it. */
  health(): ChannelHealth;
}

/** The name of a chat's transcript: one a direct message and one a group, across its threads. */
export function sessionOf(platform: string, { chat }: Pick<ReplyTarget, "chat">): string {
  return `${platform}:${chat}`;
}
