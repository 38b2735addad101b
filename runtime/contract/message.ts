/**
 * Messages in a platform-independent form. Each channel's message.ts parses its platform's messages into this form, and
 * lists the fields that it skips on purpose.
 */

import type { GrantedRole, Role } from "./config/rights.ts";
import type { Schedule } from "./config/schedules.ts";

export type ChatAddress = Pick<Schedule["to"], "platform" | "chat">;

/** Why the sender was admitted. Access control sets it, and every permission check relies on it alone. */
export type Admission =
  /** Approved by the operator, who chose the role. */
  | { by: "approval"; grants: GrantedRole }
  /** Listed in the config's `allowFrom`. */
  | { by: "config"; grants: GrantedRole }
  /** Because `allowFrom` has `*`. */
  | { by: "everyone" }
  /** An approved browser of the web chat. */
  | { by: "browser"; grants: GrantedRole }
  | { by: "group"; sendElsewhere: readonly ChatAddress[] }
  /** A schedule. `madeBy` holds the roles of the people who created it; empty if the operator did. */
  | { by: "schedule"; madeBy: readonly Role[]; sendElsewhere: readonly ChatAddress[] }
  /** A program with the gateway token. `inChat`: it posts in a chat that people also write in. */
  | { by: "hook"; inChat: boolean };

/** In the platform's own ids. */
export interface ReplyTarget {
  chat: string;
  thread?: string;
  /** Id of the message that the reply points to, for platforms that show it in busy chats (Discord servers). */
  answers?: string;
  /** Temporary credential for answering one Discord interaction. */
  ticket?: {
    token: string;
    /** Milliseconds since the epoch. */
    expiresAt: number;
    /** Only the person who asked may see the answer, so it is sent with this ticket or not at all. */
    private?: boolean;
  };
}

export interface Sender {
  id: string;
  /** Display name. People choose it, so it need not be unique. */
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
  /** Length of a recording. */
  seconds?: number;
  /** The platform's id or URL of the file. Never a secret. */
  reference: string;
}

/** An earlier message that this one refers to. The model sees it, but must not follow instructions in it. */
export interface Reference {
  /** `quote`: the part of a message that the person selected. `edit`: the previous text of the edited message. */
  kind: "reply" | "quote" | "forward" | "edit";
  /** `bot` if the bot wrote it; absent if the platform does not say. */
  author?: Partial<Sender> | "bot";
  text: string;
  attachments: readonly Attachment[];
}

export interface InboundMessage {
  /** False in a group. */
  direct: boolean;
  admission: Admission;
  sender: Sender;
  /** Text without the mention of the bot. May be empty if there are files. */
  text: string;
  attachments: readonly Attachment[];
  /** In reading order. */
  references?: readonly Reference[];
  target: ReplyTarget;
  /** The platform's message id, unique within its chat. */
  message?: string;
  /** The person edited this message, which may have been answered already. */
  edited?: true;
  /** Written in an existing thread, so the answer must go there too. */
  inThread?: boolean;
  /** Set if more parts may follow shortly: the album's id, or `text` if the app may have split a long message. */
  continues?: string;
}

/** Somebody pressed a button below one of the bot's messages. */
export interface ButtonPress {
  direct: boolean;
  /** Absent if the person may not write to the bot in this chat. */
  admission?: Admission;
  sender: Sender;
  target: ReplyTarget;
  press: string;
  /** The platform's id of the press, needed to acknowledge it. */
  ticket: string;
  /** Id and text of the message with the button, as the platform reports them. */
  message?: string;
  text?: string;
}

export type Inbound =
  /**
   * Needs no answer; `note` says why. With `target`, the platform shows a pending answer, which is removed or replaced
   * by `text`. `unlisted` is a group that the config would have to list.
   */
  | { kind: "ignored"; note: string; target?: ReplyTarget; text?: string; unlisted?: string | undefined }
  /** The platform has changed a group's id from `former` to `chat`. */
  | { kind: "moved"; note: string; former: string; chat: string }
  | ({ kind: "pressed" } & ButtonPress)
  /** `message` is the platform's message id. */
  | { kind: "deleted"; target: ReplyTarget; message: string }
  /** A group message that does not address the bot. It becomes context for the bot's next answer there. */
  | ({ kind: "context" } & InboundMessage)
  /** The sender may not use the bot, and `text` explains how to change that. The model does not see the message. */
  | { kind: "refused"; target: ReplyTarget; text: string; note: string }
  /** The sender is unknown and may request access. The model does not see the message. */
  | {
      kind: "unpaired";
      sender: string;
      /** `username` and `firstName`, for the operator's list of requests. */
      meta?: Record<string, string>;
      target: ReplyTarget;
      note: string;
    }
  | ({ kind: "message" } & InboundMessage);
