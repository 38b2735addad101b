import type { GrantedRole, Role } from "./config/rights.ts";
import type { Schedule } from "./config/schedules.ts";

/**
 * A message as every platform's channel reads it: its author and the way in, its place, its words, what it refers to, and
 * its files. The fields of each platform that are read or left out on purpose are in that channel's message.ts.
 */

/** A chat that messages may be sent to. */
export type ChatAddress = Pick<Schedule["to"], "platform" | "chat">;

/**
 * The way in which somebody came in. Access decides it, and every decision on rights gets it: no other fact about a
 * message says what may be done for it.
 */
export type Admission =
  /** By an approval of the operator, who chose the role. */
  | { by: "approval"; grants: GrantedRole }
  /** By the config: `allowFrom` lists the id; `agent.operators` grants more. */
  | { by: "config"; grants: GrantedRole }
  /** Because `allowFrom` has `*`. */
  | { by: "everyone" }
  /** By the approval of a browser of the web chat. */
  | { by: "browser"; grants: GrantedRole }
  /** As a member of a group. */
  | { by: "group"; sendElsewhere: readonly ChatAddress[] }
  /** As a schedule. `madeBy`: roles of the people who made it, none if the operator did. */
  | { by: "schedule"; madeBy: readonly Role[]; sendElsewhere: readonly ChatAddress[] }
  /** As a program that holds the gateway token; `inChat` if it speaks in a chat that others write in. */
  | { by: "hook"; inChat: boolean };

/** Destination of a reply, in the platform's own ids. */
export interface ReplyTarget {
  chat: string;
  /** The thread inside the chat, where the reply belongs into one. */
  thread?: string;
  /** Message that the reply is shown as an answer to, on platforms that show it where many write (Discord's servers). */
  answers?: string;
  /** The right to answer one request of a platform that gives it for a time (Discord's interactions). */
  ticket?: {
    token: string;
    /** Milliseconds since the epoch. */
    expiresAt: number;
    /** Only the person who asked sees the answer: it goes out by this ticket or not at all. */
    private?: boolean;
  };
}

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
  /**
   * A message that is answered, a part of one that the person chose, one that is passed on, or the former text of a
   * message that was edited.
   */
  kind: "reply" | "quote" | "forward" | "edit";
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
  /** The platform's id of the message, which it has within its chat. */
  message?: string;
  /** A new version of that message, which may be answered already. */
  edited?: true;
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

/** Request of an event. */
export type Inbound =
  /**
   * Nothing: a bot's own message, a notice. The note says why. `target` where the platform shows the event
   * as being answered, which is dismissed, or ended with `text`. `unlisted` is the group that an operator would have to
   * list.
   */
  | { kind: "ignored"; note: string; target?: ReplyTarget; text?: string; unlisted?: string | undefined }
  /** A group has another id from now on, by the platform's own word. */
  | { kind: "moved"; note: string; former: string; chat: string }
  | ({ kind: "pressed" } & ButtonPress)
  /** Somebody has deleted a message: its id at the platform. */
  | { kind: "deleted"; target: ReplyTarget; message: string }
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
