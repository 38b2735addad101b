/**
 * Protocol of the web chat: JSON text messages on a WebSocket at `/chat/socket`, on the host that serves the page.
 *
 * 1. The server sends `challenge`. Within 10 s the page answers `hello`, signed with the device's key: Ed25519 (RFC
 *    8032) over {@link proofText}. The key never leaves the browser.
 * 2. An unknown device gets `pairing`, and `welcome` once the operator has approved it. A known device gets `welcome`
 *    at once, with the earlier messages. A revoked device is closed with 4403.
 * 3. The page sends `say` and stores it until the `answer`, `error` or `removed` with its id arrives. After a lost
 *    connection it resends the message under the same id: each id is answered once.
 * 4. Files are fetched over HTTP at `/chat/files/<item>`, with the connection's ticket as Bearer token.
 * 5. Pages and gateways of different versions work together. Both ignore messages of an unknown type and unknown
 *    fields. A page sends `file`, `stop`, `open`, `rename`, `delete` and `find`, and the fields `conversation` and
 *    `instead`, only to a gateway whose `welcome` has `conversations`.
 *
 * A browser has several conversations. `conversation` is the id of one, chosen by the page; the first one has none. A
 * page gets the messages of the conversation that it opened, and those that end an answer of another one.
 */

import type { GrantedRole } from "./config/rights.ts";
import type { Block } from "./markdown.ts";

/** Largest message from a page, in bytes; a larger one closes the socket with 1009. */
export const CHAT_MESSAGE_BYTES = 32 * 1024;

/**
 * Limits for the files of a message: their number, the bytes of each, base64 characters of all together, and base64
 * characters per piece. The bytes are the default of the other channels' `mediaMaxMb`.
 */
export const CHAT_FILES = {
  most: 4,
  bytes: 5 * 1024 * 1024,
  longest: 16 * 1024 * 1024,
  piece: 24 * 1024,
} as const;

/** Longest title of a conversation and longest text to search for, in characters. */
export const CHAT_TITLE = 80;

/** Close codes of the server, in addition to RFC 6455 section 7.4.1. */
export const CHAT_CLOSE = {
  /** The message is malformed or out of sequence. */
  invalid: 4400,
  /** The signature or the device id is wrong. */
  unproven: 4401,
  /** The device was revoked. */
  revoked: 4403,
  /** No `hello` in time. */
  late: 4408,
  /** Too many devices are already waiting for approval. */
  full: 4429,
  /** Idle for so long that the gateway may sleep; reconnect when there is something to send. */
  asleep: 4503,
  /** RFC 6455: the server restarts; connect again. */
  restart: 1012,
} as const;

/**
 * Header by which the edge names the browser that it has let in, where each one has a sandbox of its own:
 * {@link AdmittedBrowser} as JSON, percent-encoded. It counts beside the control token alone.
 */
export const BROWSER_HEADER = "steward-browser";

/** A browser that was let in before its page's connection reaches the gateway. */
export interface AdmittedBrowser {
  deviceId: string;
  displayName: string;
  role: GrantedRole;
}

/** Writes the value of {@link BROWSER_HEADER}. */
export function browserHeader(browser: AdmittedBrowser): string {
  return encodeURIComponent(JSON.stringify(browser));
}

/** Reads the value of {@link BROWSER_HEADER}, which counts as the edge's own word. */
export function readBrowserHeader(value: string): AdmittedBrowser {
  return JSON.parse(decodeURIComponent(value)) as AdmittedBrowser;
}

/** Returns true if the `Origin` header names `host` itself. Browsers do not let a page forge this header. */
export function isOwnPage(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  return new URL(origin).host === host.toLowerCase();
}

/** Returns the text that a device signs. Its first line keeps the signature from being valid in another protocol. */
export function proofText({ nonce, deviceId, origin }: Record<"nonce" | "deviceId" | "origin", string>) {
  return ["steward-chat-v1", nonce, deviceId, origin].join("\n");
}

/** A text and, if it was read as Markdown, its blocks. Only answers are Markdown; people's messages are not. */
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
  /** Length of the part of `text` that the person wrote; lines about files follow it. */
  words?: number | undefined;
  /** The person stopped the answer: it is not complete, or there is none. */
  stopped?: true | undefined;
}

/** One conversation in a page's list, newest first. */
export interface Conversation {
  /** Empty for the first one. */
  id: string;
  /** Chosen by the person, or else the first words. */
  title: string;
  /** Time of the last message, in milliseconds since the epoch. */
  at: number;
}

/** A message that contains the text that was searched for. */
export interface Hit {
  conversation: string;
  /** Title of the conversation. */
  title: string;
  /** The message's text around the first occurrence; empty if only the title contains it. */
  excerpt: string;
  at: number;
}

/** State of a conversation: its last messages, and those that are not answered yet. */
interface OpenConversation {
  history: ChatTurn[];
  items: ChatItem[];
  /**
   * Ids of messages that are being answered or wait for it: in `opened` those of all conversations of the browser.
   */
  running: string[];
  /** Messages of this conversation that wait behind another one, oldest first. */
  waiting?: { id: string; text: string }[];
}

/** Names the conversation of a message; absent for the first one. */
interface InConversation {
  conversation?: string | undefined;
}

/**
 * A file or question that the assistant sends in addition to its answers. `item` is its id: a later item with the same
 * id replaces the earlier one. `id` is the message it belongs to, empty if none.
 */
export type ChatItem =
  /** A file of `size` bytes. `picture`: pages display it. */
  | { type: "file"; item: string; id: string; name: string; size: number; picture: boolean; caption?: string }
  /** A question. Without buttons it is closed, and `note` says why. */
  | ({
      type: "choices";
      item: string;
      id: string;
      question: string;
      buttons: { label: string; press: string }[];
      note?: string;
    } & Read);

/** Messages of the server. */
export type ToPage =
  | (ChatItem & InConversation)
  /** Valid for this connection only. */
  | { type: "challenge"; nonce: string }
  /** `command`: the command that the operator runs to approve the device. */
  | { type: "pairing"; requestId: string; command: string }
  /**
   * The first conversation. `ticket`: lets the page fetch files while this connection lasts; the device's id and a
   * random part, with a dot between.
   */
  | ({ type: "welcome"; ticket: string; conversations?: Conversation[] } & OpenConversation)
  /** The conversation that the page asked to open. */
  | ({ type: "opened"; conversation: string } & OpenConversation)
  /** The conversations have changed. */
  | { type: "conversations"; conversations: Conversation[] }
  /** Result of the search with this `id`. */
  | { type: "found"; id: string; hits: Hit[] }
  /** The message was accepted. Sent to every page of the device, so that all of them show it. */
  | ({ type: "accepted"; id: string; text: string } & InConversation)
  /** An answer is being generated. */
  | ({ type: "typing"; id: string } & InConversation)
  /** The answer's text so far; empty if it starts over. */
  | ({ type: "text"; id: string; soFar: string } & Read & InConversation)
  /** `stopped`: the person stopped it; the text may be empty. */
  | ({ type: "answer"; id: string; text: string; stopped?: true | undefined } & Read & InConversation)
  /** The message and its answer are gone: it was withdrawn, or another one replaces it. */
  | ({ type: "removed"; id: string } & InConversation)
  /** There is no answer; with `again`, resending the message under the same id may help. */
  | ({ type: "error"; id: string; code: string; text: string; again: boolean } & InConversation);

/** Messages of the page. Keys and signatures are base64url without padding. */
export type FromPage =
  /** `deviceId`: SHA-256 of the raw public key, in hexadecimal. `signature` is over {@link proofText}. */
  | { type: "hello"; deviceId: string; publicKey: string; displayName: string; signature: string }
  /**
   * A piece of a base64 file, in order, before the `say` of its message. `ends`: this is the last piece. Accepted from
   * approved devices only.
   */
  | { type: "file"; id: string; part: string; ends?: boolean; name?: string; mediaType?: string }
  /** The same for a picture without a name, as pages of earlier versions send it. */
  | { type: "picture"; id: string; part: string; ends?: boolean }
  /**
   * `id`: chosen by the page. The text may be empty if files came before. `instead`: id of the person's last message,
   * which this one replaces together with its answer; ignored if that is not the last one.
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
