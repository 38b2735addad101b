import type { ChannelHealth, Platform } from "../../contract/control.ts";

/** Where a reply goes, in the platform's own ids. */
export interface ReplyTarget {
  chat: string;
  /** The thread inside the chat, where the reply belongs into one. */
  thread?: string;
}

/** Whether a sender may be answered, and why: every decision can be looked up in the log. */
export type AccessDecision =
  | { allowed: true; reason: string }
  /** `answer`: nothing is said; the sender is told how it can be allowed; it is offered a pairing code. */
  | { allowed: false; reason: string; answer: "ignore" | "refuse" | "pair" };

/** What an event asks for. */
export type Inbound =
  /** Nothing: a bot's own message, an edit. The note says why. */
  | { kind: "ignored"; note: string }
  /** The sender may not be answered, and is told how that can change. The model does not see it. */
  | { kind: "refused"; target: ReplyTarget; text: string; note: string }
  /** The sender is unknown, and may ask to be let in. The model does not see the message. */
  | { kind: "unpaired"; sender: string; target: ReplyTarget; note: string }
  /** A person's message. `conversation` names the transcript that it belongs to. */
  | { kind: "message"; conversation: string; sender: string; text: string; target: ReplyTarget };

/**
 * A chat platform. The gateway never asks which one it is: what is particular about a platform
 * (payloads, mentions, threads, limits, errors) stays behind these four methods.
 */
export interface Channel {
  readonly platform: Platform;

  /**
   * Reads one event. Nothing goes out and nothing is stored, so that an event that needs no reply costs
   * nothing, and the same event read again (a retry) reads the same while the sender's standing does.
   */
  receive(payload: Record<string, unknown>): Inbound;

  /**
   * Cuts a reply into messages the platform takes. Apart from `send`, so that a retry continues
   * behind the last message that went out.
   */
  split(text: string): string[];

  /**
   * Sends one message and returns when the platform has it.
   *
   * @throws RetryableError always, where it does not: the reply is kept and tried again.
   */
  send(target: ReplyTarget, text: string): Promise<void>;

  /** How the platform answers, without asking it. */
  health(): ChannelHealth;
}
