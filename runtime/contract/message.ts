/**
 * Messages in a platform-independent form. Each channel's message.ts parses its platform's messages into this form,
 * and lists fields that it deliberately ignores.
 */

import type { GrantedRole, Role } from "./config/rights.ts";
import type { Schedule } from "./config/schedules.ts";

export type ChatAddress = Pick<Schedule["to"], "platform" | "chat">;

/** Reason why the sender was admitted. Permission checks use nothing else. */
export type Admission =
  /** Approved by the operator, who chose the role. */
  | { by: "approval"; grants: GrantedRole }
  /** Listed in the config's `allowFrom`. */
  | { by: "config"; grants: GrantedRole }
  /** Admitted because `allowFrom` has `*`. */
  | { by: "everyone" }
  /** An approved browser of the web chat. */
  | { by: "browser"; grants: GrantedRole }
  | { by: "group"; sendElsewhere: readonly ChatAddress[] }
  /** A schedule. `madeBy` holds the roles of the people who created it; empty if the operator did. */
  | { by: "schedule"; madeBy: readonly Role[]; sendElsewhere: readonly ChatAddress[] }
  /** A program with the gateway token. `inChat` is true if it posts in a chat where people also write. */
  | { by: "hook"; inChat: boolean };

/** Destination of a reply, identified by ids that the platform assigns. */
export interface ReplyTarget {
  chat: string;
  thread?: string;
  /** Id of the message to reply to. Set on Discord servers, where Discord shows this message above the reply. */
  answers?: string;
  /** Temporary credential for answering one Discord interaction. */
  ticket?: {
    token: string;
    /** Milliseconds since the epoch. */
    expiresAt: number;
    /** True if only the person who asked may see the answer. Such an answer is sent only with a valid ticket. */
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

/** A file attached to a message, fetched only when the message is answered. */
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

/**
 * An earlier message that a new message answers, quotes, forwards or edits. The model sees it, but must not follow
 * instructions in it.
 */
export interface Reference {
  /** `quote`: the part of a message that the person selected. `edit`: the previous text of the edited message. */
  kind: "reply" | "quote" | "forward" | "edit";
  /** Author of the message; `bot` for the bot itself, absent if the platform does not say. */
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
  /** Set if the person edited this message. The previous text may already have been answered. */
  edited?: true;
  /** True if the message is in an existing thread. The answer must be sent to this thread. */
  inThread?: boolean;
  /** Set if more parts of the message may follow: the album's id, or `text` if the app may have split a long text. */
  continues?: string;
}

export interface ButtonPress {
  direct: boolean;
  /** Absent if the person may not write to the bot in this chat. */
  admission?: Admission;
  sender: Sender;
  target: ReplyTarget;
  press: string;
  /** Platform-specific value needed to acknowledge the button press. */
  ticket: string;
  /** Id of the message whose button was pressed. `text` is that message's text. */
  message?: string;
  text?: string;
}

export type Inbound =
  /**
   * An event that needs no answer. `note` gives the reason; `unlisted` is the id of a group that is not in the
   * config. `target` is set if the platform shows a pending answer. `text` replaces the pending answer, which is
   * otherwise removed.
   */
  | { kind: "ignored"; note: string; target?: ReplyTarget; text?: string; unlisted?: string | undefined }
  /** The platform has changed a group's id from `former` to `chat`. */
  | { kind: "moved"; note: string; former: string; chat: string }
  | ({ kind: "pressed" } & ButtonPress)
  /** `message` is the platform's message id. */
  | { kind: "deleted"; target: ReplyTarget; message: string }
  /** A group message that does not address the bot. It becomes context for the bot's next answer in that group. */
  | ({ kind: "context" } & InboundMessage)
  /** A message from a sender who may not use the bot. `text` explains how to get access. */
  | { kind: "refused"; target: ReplyTarget; text: string; note: string }
  /** A message from an unknown sender, who may request access. The model does not see it. */
  | {
      kind: "unpaired";
      sender: string;
      /** The sender's `username` and `firstName`, shown in the operator's list of requests. */
      meta?: Record<string, string>;
      target: ReplyTarget;
      note: string;
    }
  | ({ kind: "message" } & InboundMessage);
