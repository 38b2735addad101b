/**
 * Protocol of the web chat: JSON text messages on a WebSocket at `/chat/socket`, on the host that serves the page.
 *
 * 1. The server sends `challenge`. Within 10 s the page replies with `hello`, signed with the device's key: Ed25519
 * (RFC 8032) over {@link proofText}. The key never leaves the browser.
 * 2. An unknown device gets `pairing`, and `welcome` once the operator has approved it. A known device gets `welcome`
 * immediately, with the earlier messages. A revoked device's connection closes with 4403.
 * 3. The page sends `say` and stores it until the `answer`, `error` or `removed` with its id arrives. After a lost
 * connection it resends the message with the same id: each id is answered once.
 * 4. Files are fetched over HTTP at `/chat/files/<item>`, with the connection's ticket as a Bearer token.
 * 5. Pages and gateways of different versions work together: both ignore unknown message types and fields. A page
 * uses `file`, `stop`, `open`, `rename`, `delete`, `find` and the fields `conversation` and `instead` only if
 * `welcome` has `conversations`.
 *
 * A browser has several conversations. The page chooses each one's id and sends it as `conversation`; only the first
 * conversation has no id. A page receives all messages of its open conversation, but from the other conversations
 * only the messages that end an answer.
 */

import type { GrantedRole } from "./config/rights.ts";
import type { Block } from "./markdown.ts";

/** Largest message from a page, in bytes; a larger one closes the socket with 1009. */
export const CHAT_MESSAGE_BYTES = 32 * 1024;

/**
 * Limits for the files of one message: their number (`most`), the bytes of each, and their total length in base64
 * characters (`longest`). A page sends files in pieces of up to `piece` base64 characters.
 */
export const CHAT_FILES = {
  most: 4,
  bytes: 5 * 1024 * 1024,
  longest: 16 * 1024 * 1024,
  piece: 24 * 1024,
} as const;

/** Maximum number of characters in a conversation's title or in a search query. */
export const CHAT_TITLE = 80;

/** The server's WebSocket close codes, in addition to those of RFC 6455. */
export const CHAT_CLOSE = {
  /** The message is malformed or out of sequence. */
  invalid: 4400,
  /** The signature or the device id is wrong. */
  unproven: 4401,
  /** The device was revoked. */
  revoked: 4403,
  /** The page sent no `hello` in time. */
  late: 4408,
  /** Too many devices are already waiting for approval. */
  full: 4429,
  /** The gateway stops because it is idle. The page reconnects when it has something to send. */
  asleep: 4503,
  /** RFC 6455: the server restarts; connect again. */
  restart: 1012,
} as const;

/**
 * Header that tells a browser's sandbox which browser the edge has admitted: {@link AdmittedBrowser} as percent-encoded
 * JSON. Accepted only together with the control token.
 */
export const BROWSER_HEADER = "steward-browser";

export interface AdmittedBrowser {
  deviceId: string;
  displayName: string;
  role: GrantedRole;
}

export function browserHeader(browser: AdmittedBrowser): string {
  return encodeURIComponent(JSON.stringify(browser));
}

/** Parses {@link BROWSER_HEADER} without validation, because only the edge can send it. */
export function readBrowserHeader(value: string): AdmittedBrowser {
  return JSON.parse(decodeURIComponent(value)) as AdmittedBrowser;
}

/** Returns true if the `Origin` header names a page on `host`. Browsers do not let a page forge this header. */
export function isOwnPage(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  return new URL(origin).host === host.toLowerCase();
}

/** Returns the text that a device signs. Its first line keeps the signature from being valid in another protocol. */
export function proofText({ nonce, deviceId, origin }: Record<"nonce" | "deviceId" | "origin", string>) {
  return ["steward-chat-v1", nonce, deviceId, origin].join("\n");
}

/** Parsed text of a message. `blocks` is absent for people's messages, which are plain text. */
interface Read {
  blocks?: Block[] | undefined;
}

/** One message of the conversation so far. An answer has the id of the message it answers. */
export interface ChatTurn extends Read {
  id: string;
  role: "user" | "assistant";
  text: string;
  /** Milliseconds since the epoch. */
  at: number;
  /** Number of characters, at the start of `text`, that the person wrote. Generated lines about files follow. */
  words?: number | undefined;
  /** The person stopped the answer, so it is incomplete or missing. */
  stopped?: true | undefined;
}

/** An entry of the page's conversation list, which is sorted newest first. */
export interface Conversation {
  /** Empty for the first one. */
  id: string;
  /** Chosen by the person; by default the conversation's first words. */
  title: string;
  /** Time of the last message, in milliseconds since the epoch. */
  at: number;
}

/** A search result: a message that contains the text, or a conversation whose title does. */
export interface Hit {
  conversation: string;
  title: string;
  /** Part of the message around the first match; empty if the result is a conversation whose title matches. */
  excerpt: string;
  at: number;
}

/** State of a conversation: its last messages and its unanswered messages. */
interface OpenConversation {
  history: ChatTurn[];
  items: ChatItem[];
  /**
   * Ids of messages that are queued or being answered. An `opened` message lists those of all the browser's
   * conversations.
   */
  running: string[];
  /** Queued messages of this conversation, which wait for an earlier answer; oldest first. */
  waiting?: { id: string; text: string }[];
}

/** Without `conversation`: the browser's first conversation. */
interface InConversation {
  conversation?: string | undefined;
}

/**
 * A file or question that the assistant sends in addition to its answers. It replaces an earlier file or question
 * with the same `item`. `id` is the id of the message that is being answered; empty if there is none.
 */
export type ChatItem =
  /** A file of `size` bytes. If `picture` is true, pages display it. */
  | { type: "file"; item: string; id: string; name: string; size: number; picture: boolean; caption?: string }
  /** A question with buttons. If `buttons` is empty, the question is closed and `note` gives the reason. */
  | ({
      type: "choices";
      item: string;
      id: string;
      question: string;
      buttons: { label: string; press: string }[];
      note?: string;
    } & Read);

export type ToPage =
  | (ChatItem & InConversation)
  /** Valid for this connection only. */
  | { type: "challenge"; nonce: string }
  /** Tells an unknown device to wait for approval. To approve it, the operator runs `command`. */
  | { type: "pairing"; requestId: string; command: string }
  /**
   * Opens the first conversation. `ticket` lets the page fetch files during this connection; its form is `<device
   * id>.<random>`.
   */
  | ({ type: "welcome"; ticket: string; conversations?: Conversation[] } & OpenConversation)
  | ({ type: "opened"; conversation: string } & OpenConversation)
  | { type: "conversations"; conversations: Conversation[] }
  | { type: "found"; id: string; hits: Hit[] }
  /** The message was accepted. The server sends this to every page of the device. */
  | ({ type: "accepted"; id: string; text: string } & InConversation)
  | ({ type: "typing"; id: string } & InConversation)
  /** The answer's text so far. An empty string means that the answer starts over. */
  | ({ type: "text"; id: string; soFar: string } & Read & InConversation)
  /** The final answer. If the person stopped it, `stopped` is true and the text may be empty. */
  | ({ type: "answer"; id: string; text: string; stopped?: true | undefined } & Read & InConversation)
  /** The message and its answer are gone: the person withdrew or replaced the message. */
  | ({ type: "removed"; id: string } & InConversation)
  /** The message gets no answer. If `again` is true, resending it with the same id may help. */
  | ({ type: "error"; id: string; code: string; text: string; again: boolean } & InConversation);

/** Messages that the page sends. Keys and signatures are base64url without padding. */
export type FromPage =
  /**
   * Authenticates the device. `deviceId` is the SHA-256 of the raw public key, in hexadecimal. `signature` signs {@link
   * proofText}.
   */
  | { type: "hello"; deviceId: string; publicKey: string; displayName: string; signature: string }
  /**
   * One piece of a file, in base64. Pieces come in order, before the `say` of their message; the last has `ends`.
   * Accepted from approved devices only.
   */
  | { type: "file"; id: string; part: string; ends?: boolean; name?: string; mediaType?: string }
  /** A piece of an unnamed picture. Sent by older chat pages; the rules for `file` apply. */
  | { type: "picture"; id: string; part: string; ends?: boolean }
  /**
   * A person's message; the page chooses its `id`. The text may be empty if the message has files. `instead` is the
   * id of the person's last message, which this message replaces together with its answer; any other id is ignored.
   */
  | ({ type: "say"; id: string; text: string; instead?: string } & InConversation)
  /** A button press. The button's text counts as a message with this `id`. */
  | ({ type: "press"; id: string; press: string } & InConversation)
  /** Ends the answer to a message and keeps its text so far, or withdraws a waiting message. */
  | ({ type: "stop"; id: string } & InConversation)
  | { type: "open"; conversation: string }
  | { type: "rename"; conversation: string; title: string }
  | { type: "delete"; conversation: string }
  | { type: "find"; id: string; query: string };
