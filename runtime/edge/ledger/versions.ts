import { parseJson, isRecord } from "../../shared/json.ts";
import type { Delivery, Platform } from "../../contract/delivery.ts";
import type { Sql } from "./sql.ts";

interface Carried {
  /** Unique across chats, such as `telegram:<chat>:<message id>`. */
  message: string;
  /** Absent for a new message. */
  change?: "edit" | "deletion";
  /** True to record the change even if the ledger does not contain the message. */
  always?: boolean;
}

type Fields = Record<string, unknown>;

/** Visible fields of Telegram's messages: https://core.telegram.org/bots/api#message */
const VISIBLE_FIELDS =
  "text caption entities caption_entities rich_message checklist photo document video animation audio".split(
    " ",
  );

/** Returns the message that an event carries or changes. */
export function carriedMessage({ platform, payload }: Pick<Delivery, "platform" | "payload">) {
  return READERS[platform](payload);
}

const READERS: Record<Platform, (payload: Fields) => Carried | undefined> = {
  slack: carriedBySlack,
  telegram: carriedByTelegram,
  // steward receives no edits or deletions from Discord.
  discord: () => undefined,
};

/**
 * Returns false for changes to ignore: edits of unknown messages, edits in unlisted groups, edits without visible
 * changes, and deletions of answered messages.
 */
export function isRelevant(sql: Sql, delivery: Delivery, { message, change, always }: Carried): boolean {
  if (change === undefined || always) return true;
  if (change === "deletion") {
    const open = "SELECT 1 FROM ledger WHERE message = ? AND settled_at IS NULL LIMIT 1";
    return sql.all(open, message).length > 0;
  }
  const [newest] = sql.all(
    "SELECT delivery FROM ledger WHERE message = ? AND group_id IS NULL ORDER BY seq DESC LIMIT 1",
    message,
  );
  const { payload } = fieldsOf(parseJson(String(newest?.["delivery"])));
  // Compare the visible text: platforms also report link previews and reactions as edits.
  return newest !== undefined && visibleContent(delivery.payload) !== visibleContent(fieldsOf(payload));
}

function carriedByTelegram({ message: said, edited_message: edited }: Fields): Carried | undefined {
  const { message_id: id, chat } = fieldsOf(said ?? edited);
  const { id: place } = fieldsOf(chat);
  if (id === undefined || place === undefined) return undefined;
  const message = `telegram:${String(place)}:${String(id)}`;
  return said === undefined ? { message, change: "edit" } : { message };
}

/** https://docs.slack.dev/reference/events/message/message_changed and `message_deleted` */
function carriedBySlack({ team_id: team, event }: Fields): Carried | undefined {
  const { type, subtype, channel, ts, deleted_ts: deleted, message: inner, edited } = fieldsOf(event);
  if (channel === undefined || (type !== "message" && type !== "app_mention")) return undefined;
  const { ts: changed, subtype: kind } = fieldsOf(inner);
  const id = subtype === "message_deleted" ? deleted : subtype === "message_changed" ? changed : ts;
  if (typeof id !== "string") return undefined;
  const message = `slack:${String(team)}:${String(channel)}:${id}`;
  // If a deleted message has replies, Slack puts a tombstone in its place.
  if (subtype === "message_deleted" || kind === "tombstone") return { message, change: "deletion" };
  if (subtype === "message_changed") return { message, change: "edit" };
  // An `app_mention` with `edited` may be the first event with this message, because the edit may have added the
  // mention.
  return edited == null ? { message } : { message, change: "edit", always: true };
}

/** Returns a message's visible content as text, to detect changes. */
function visibleContent({ message: said, edited_message: edited, event }: Fields): string {
  if (event === undefined) {
    const message = fieldsOf(said ?? edited);
    // File ids may change between events; `file_unique_id` does not.
    return JSON.stringify(
      VISIBLE_FIELDS.map((field) => message[field] ?? null),
      (name, value: unknown) => (name === "file_id" ? undefined : value),
    );
  }
  const { message: inner } = fieldsOf(event);
  const { text, blocks, files } = fieldsOf(inner ?? event);
  const kept = Array.isArray(files) ? files.map(fieldsOf).map(({ id, mode }) => [id, mode]) : [];
  return JSON.stringify([text || blocks, kept]);
}

function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}
