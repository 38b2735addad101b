import type { GrantedRole, Role } from "./config/rights.ts";
import type { Schedule } from "./config/schedules.ts";

/**
 * The platform-independent form of a message, as every channel parses it. Each channel's message.ts lists the
 * platform's fields that are read and those that are skipped on purpose.
 */

/** A chat that messages may be sent to. */
export type ChatAddress = Pick<Schedule["to"], "platform" | "chat">;

/**
 * The reason for which the sender was admitted. Access control sets it, and every permission check is based on it: no
 * other property of a message grants rights.
 */
export type Admission =
  /** Approved by the operator, who chose the role. */
  | { by: "approval"; grants: GrantedRole }
  /** Listed in `allowFrom` of the config; `agent.operators` grants more. */
  | { by: "config"; grants: GrantedRole }
  /** Because `allowFrom` has `*`. */
  | { by: "everyone" }
  /** A browser of the web chat that was approved. */
  | { by: "browser"; grants: GrantedRole }
  /** As a member of a group. */
  | { by: "group"; sendElsewhere: readonly ChatAddress[] }
  /** A schedule. `madeBy`: the roles of the people who created it; empty if the operator did. */
  | { by: "schedule"; madeBy: readonly Role[]; sendElsewhere: readonly ChatAddress[] }
  /** A program that holds the gateway token; `inChat` if it posts in a chat that others write in. */
  | { by: "hook"; inChat: boolean };

/** Destination of a reply, in the platform's own ids. */
export interface ReplyTarget {
  chat: string;
  /** The thread in the chat, if the reply belongs in a thread. */
  thread?: string;
  /** Id of the message that the reply refers to, on platforms that display this in busy chats (Discord servers). */
  answers?: string;
  /** A temporary credential for answering one request of the platform (Discord's interactions). */
  ticket?: {
    token: string;
    /** Milliseconds since the epoch. */
    expiresAt: number;
    /** Only the person who asked may see the answer: it is sent with this ticket or not at all. */
    private?: boolean;
  };
}

/** Author of a message. */
export interface Sender {
  id: string;
  /** Display name, if the platform provides it. People choose it, and it need not be unique. */
  name?: string;
  /** Account name, used to mention the person. */
  username?: string;
}

/** A file attached to a message. It is fetched only when the message is answered. */
export interface Attachment {
  kind: "image" | "audio" | "video" | "file";
  name?: string;
  /** For example `image/png`. */
  mediaType?: string;
  sizeBytes?: number;
  /** Length of a recording, if the platform provides it. */
  seconds?: number;
  /** The platform's id or URL of the file. Never a secret. */
  reference: string;
}

/**
 * An earlier message, perhaps of another author, that this one refers to. The model sees it but must not follow
 * instructions in it.
 */
export interface Reference {
  /**
   * The message replied to, a part of it that the person selected, a forwarded message, or the previous text of an
   * edited message.
   */
  kind: "reply" | "quote" | "forward" | "edit";
  /** `bot` if the bot wrote it; absent if the platform does not say. */
  author?: Partial<Sender> | "bot";
  text: string;
  attachments: readonly Attachment[];
}

/** A person's message. */
export interface InboundMessage {
  /** True for a direct message, false for a group message. */
  direct: boolean;
  /** The reason for which the sender was admitted. */
  admission: Admission;
  sender: Sender;
  /** The person's text without the mention of the bot; may be empty if there are files. */
  text: string;
  attachments: readonly Attachment[];
  /** In reading order. */
  references?: readonly Reference[];
  target: ReplyTarget;
  /** The platform's id of the message, unique within its chat. */
  message?: string;
  /** This is a new version of that message, which may have been answered already. */
  edited?: true;
  /** Written in an existing thread, whose readers would not see an answer elsewhere. */
  inThread?: boolean;
  /** More parts may follow shortly: the album's id, or `text` if the app may have split a long text. */
  continues?: string;
}

/** Somebody pressed a button below one of the bot's messages. */
export interface ButtonPress {
  direct: boolean;
  /** Absent if the person may not write to the bot there. */
  admission?: Admission;
  sender: Sender;
  target: ReplyTarget;
  /** The name of the button. */
  press: string;
  /** The platform's id of the press, needed to acknowledge it. */
  ticket: string;
  /** The message with the button, and that message's text as the platform reports it. */
  message?: string;
  text?: string;
}

/** Parsed meaning of an event. */
export type Inbound =
  /**
   * No answer: a bot's own message, or a notice. `note` says why. `target` is set if the platform shows the event as
   * pending: the pending answer is then removed, or replaced by `text`. `unlisted` is the group that an operator would
   * have to list.
   */
  | { kind: "ignored"; note: string; target?: ReplyTarget; text?: string; unlisted?: string | undefined }
  /** A group has changed its id, as reported by the platform. */
  | { kind: "moved"; note: string; former: string; chat: string }
  | ({ kind: "pressed" } & ButtonPress)
  /** Somebody deleted a message. `message`: the platform's id. */
  | { kind: "deleted"; target: ReplyTarget; message: string }
  /** No answer: a group message not addressed to the bot, stored as context for its next answer there. */
  | ({ kind: "context" } & InboundMessage)
  /** The sender may not use the bot, and is told how to change that. The model does not see the message. */
  | { kind: "refused"; target: ReplyTarget; text: string; note: string }
  /** The sender is unknown and may request access. The model does not see the message. */
  | {
      kind: "unpaired";
      sender: string;
      /** Profile data from the platform for the operator's list: `username`, `firstName`. */
      meta?: Record<string, string>;
      target: ReplyTarget;
      note: string;
    }
  | ({ kind: "message" } & InboundMessage);
