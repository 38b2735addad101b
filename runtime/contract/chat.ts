/**
 * The web chat's protocol: JSON text messages on a WebSocket at `/chat/socket` of the page's own host.
 *
 * 1. The server sends `challenge`. Within 10 s the page answers `hello`, signed with the device's key:
 *    Ed25519 (RFC 8032) over {@link proofText}. The key never leaves the browser.
 * 2. An unknown device gets `pairing`, and `welcome` once the operator has approved it. A known one
 *    gets `welcome` at once, with the earlier messages. A revoked one is closed with 4403.
 * 3. The page sends `say` and keeps it until it has the `answer` or the `error` with its id. After a lost
 *    connection it says it again under the same id: a message is answered once.
 * 4. Files are fetched over HTTP at `/chat/files/<item>`, with the ticket of the connection as a Bearer token.
 */

import type { Block } from "./markdown.ts";

/** Bytes of a message at most, either way of the page's; a longer one closes the socket with 1009. */
export const CHAT_MESSAGE_BYTES = 32 * 1024;

/** Pictures of one message: how many, and in base64 the characters of all and of a piece. */
export const CHAT_PICTURES = { most: 4, longest: 6 * 1024 * 1024, piece: 24 * 1024 } as const;

/** Why the server closes a socket, beside the codes of RFC 6455 section 7.4.1. */
export const CHAT_CLOSE = {
  /** Not a message of this form, or not in this order. */
  invalid: 4400,
  /** The signature or the device id is wrong. */
  unproven: 4401,
  /** The device was revoked. */
  revoked: 4403,
  /** No `hello` in time. */
  late: 4408,
  /** As many as allowed wait for approval. */
  full: 4429,
  /** Nothing was said for so long that the gateway sleeps; connect again when there is something to say. */
  asleep: 4503,
  /** RFC 6455: the server restarts; connect again. */
  restart: 1012,
} as const;

/** Tells whether a socket is asked for by a page of `host` itself: a browser says truly where its page is from. */
export function isOwnPage(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  return new URL(origin).host === host.toLowerCase();
}

/** Returns what a device signs. The first line keeps the signature from meaning anything elsewhere. */
export function proofText({ nonce, deviceId, origin }: Record<"nonce" | "deviceId" | "origin", string>) {
  return ["steward-chat-v1", nonce, deviceId, origin].join("\n");
}

/** A text that was read as Markdown: an answer's, and no person's. */
interface Read {
  blocks?: Block[] | undefined;
}

/** One message of the conversation so far. An answer has the id of the message that it answers. */
export interface ChatTurn extends Read {
  id: string;
  role: "user" | "assistant";
  text: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/**
 * A file or question that the assistant sends beside its answers. `item` names it, and one that comes again replaces the
 * former; `id` is the message that it belongs to, if any.
 */
export type ChatItem =
  /** A file, of `size` bytes. `picture`: pages show it. */
  | { type: "file"; item: string; id: string; name: string; size: number; picture: boolean; caption?: string }
  /** A question. Without buttons it is no longer open, and `note` tells why. */
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
  | ChatItem
  /** Valid for this connection only. */
  | { type: "challenge"; nonce: string }
  /** The operator runs `command`. */
  | { type: "pairing"; requestId: string; command: string }
  /** `running`: messages that are being answered. `ticket` lets the page fetch files while this connection lasts. */
  | { type: "welcome"; history: ChatTurn[]; items: ChatItem[]; running: string[]; ticket: string }
  /** The message was taken on. Sent to every page of the device, so each shows it. */
  | { type: "accepted"; id: string; text: string }
  /** An answer is being made. */
  | { type: "typing"; id: string }
  /** The answer's text so far; empty where it starts over. */
  | ({ type: "text"; id: string; soFar: string } & Read)
  | ({ type: "answer"; id: string; text: string } & Read)
  /** Nothing was answered; saying it again under the same id may help where `again` is set. */
  | { type: "error"; id: string; code: string; text: string; again: boolean };

/** Messages of the page. Keys and signatures are base64url without padding. */
export type FromPage =
  /** `deviceId`: SHA-256 of the raw public key, in hexadecimal. `signature` is over {@link proofText}. */
  | { type: "hello"; deviceId: string; publicKey: string; displayName: string; signature: string }
  /**
   * A piece of a picture in base64, in order, before the `say` of its message. `ends`: the picture is whole with it. Only
   * an approved device may send them.
   */
  | { type: "picture"; id: string; part: string; ends?: boolean | undefined }
  /** `id`: the page's own name for this message. The text may be empty where pictures came before. */
  | { type: "say"; id: string; text: string }
  /** A button is pressed. What it says counts as a message with this `id`. */
  | { type: "press"; id: string; press: string };
