import type { ChannelHealth } from "../../contract/control.ts";
import type { Platform } from "../../contract/delivery.ts";
import type { Button } from "../actions.ts";
import type { Admission } from "../admission.ts";

/** Destination of a reply, in the platform's own ids. */
export interface ReplyTarget {
  chat: string;
  /** The thread inside the chat, where the reply belongs into one. */
  thread?: string;
  /** The right to answer one request of a platform that gives it for a time (Discord's interactions). */
  ticket?: {
    token: string;
    /** Milliseconds since the epoch. */
    expiresAt: number;
    /** Only the person who asked sees the answer: it goes out by this ticket or not at all. */
    private?: boolean;
  };
}

/** Decision whether a sender may be answered, and why: every decision can be looked up in the log. */
export type AccessDecision =
  | { allowed: true; admission: Admission; reason: string }
  /** `answer`: no reply; the sender learns how to be allowed; it is offered a pairing code. */
  | { allowed: false; reason: string; answer: "ignore" | "refuse" | "pair" };

/** Author of a message. */
export interface Sender {
  id: string;
  /** Display name, where the platform tells: people choose it, and others may have the same. */
  name?: string;
  /** Name of the account, by which others mention it. */
  username?: string;
}

/** A file that came with a message. It is fetched only when the message is answered. */
export interface Attachment {
  kind: "image" | "audio" | "video" | "file";
  name?: string;
  /** For example `image/png`. */
  mediaType?: string;
  sizeBytes?: number;
  /** Length of a recording, where the platform tells. */
  seconds?: number;
  /** Name of the file at the platform: an id or an address. Never a secret. */
  reference: string;
}

/** Something that a message is about, written before it and perhaps by somebody else. It is shown, and never obeyed. */
export interface Reference {
  /** A message that is answered, a part of one that the person chose, or one that is passed on. */
  kind: "reply" | "quote" | "forward";
  /** `bot` where the bot wrote it; absent where the platform does not tell. */
  author?: Partial<Sender> | "bot";
  text: string;
  attachments: readonly Attachment[];
}

/** A person's message. */
export interface InboundMessage {
  /** In a direct message, not in a group. */
  direct: boolean;
  /** The way in which the sender came in. */
  admission: Admission;
  sender: Sender;
  /** Text of the person, without the mention of the bot; may be empty where files came along. */
  text: string;
  attachments: readonly Attachment[];
  /** In the order in which they are read. */
  references?: readonly Reference[];
  target: ReplyTarget;
  /** The platform's id of the message. */
  message?: string;
  /** Written in an existing thread, whose readers see no answer elsewhere. */
  inThread?: boolean;
  /** More of it may follow at once: the id of its album, or `text` where the app may have cut what was written. */
  continues?: string;
}

/** Somebody pressed a button below one of the bot's messages. */
export interface ButtonPress {
  direct: boolean;
  /** Absent for somebody who may not write to the bot there. */
  admission?: Admission;
  sender: Sender;
  target: ReplyTarget;
  /** The name of the button. */
  press: string;
  /** Names the press at the platform, which waits for a word on it. */
  ticket: string;
  /** The message that the button stands below, and its text as the platform has it. */
  message?: string;
  text?: string;
}

/** A group that has another id from now on. */
interface ChatMove {
  former: string;
  chat: string;
}

/** Request of an event. */
export type Inbound =
  /**
   * Nothing: a bot's own message, an edit. The note says why. `target` where the platform shows the event
   * as being answered, which is dismissed, or ended with `text`. `unlisted` is the group that an operator would have to
   * list.
   */
  | { kind: "ignored"; note: string; target?: ReplyTarget; text?: string; unlisted?: string | undefined }
  /** A group has another id from now on, by the platform's own word. */
  | ({ kind: "moved"; note: string } & ChatMove)
  | ({ kind: "pressed" } & ButtonPress)
  /** No answer: a group's message that was not for the bot, kept as context of its next answer there. */
  | ({ kind: "context" } & InboundMessage)
  /** The sender may not be answered, and learns how that can change. The model does not see it. */
  | { kind: "refused"; target: ReplyTarget; text: string; note: string }
  /** The sender is unknown, and may ask to be let in. The model does not see the message. */
  | {
      kind: "unpaired";
      sender: string;
      /** Facts of the person from the platform, for the operator's list: `username`, `firstName`. */
      meta?: Record<string, string>;
      target: ReplyTarget;
      note: string;
    }
  | ({ kind: "message" } & InboundMessage);

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
  moved?(move: ChatMove): void;

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
export function conversationOf(platform: string, { chat }: Pick<ReplyTarget, "chat">): string {
  return `${platform}:${chat}`;
}
