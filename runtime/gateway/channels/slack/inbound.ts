import type { Inbound, ReplyTarget, Attachment, Reference } from "../../../contract/message.ts";
import { asEdit, unreadableMessage, textOfBlocks } from "../blocks.ts";
import { unknownSenderText, type ChannelAccess } from "../../../shared/channel-access.ts";
import { mentionsUser, withoutMention, readSlackText } from "./mrkdwn.ts";
import * as z from "zod/mini";
import { attachmentKind } from "../files.ts";
import { remark } from "../../prompt/text.ts";
import { maybe } from "../../../shared/maybe.ts";
import { unknownFields } from "../channel.ts";

// These schemas accept unknown fields, since Slack adds new ones at any time.

/** https://docs.slack.dev/reference/objects/file-object */
const file = z.object({
  id: z.string(),
  name: maybe(z.string()),
  mimetype: maybe(z.string()),
  size: maybe(z.number()),
  duration_ms: maybe(z.number()),
  /** `slack_audio`: recorded in Slack. */
  subtype: maybe(z.string()),
  /** `tombstone`: deleted. `hidden_by_limit`: hidden by a limit of the workspace's plan. */
  mode: maybe(z.string()),
  /** Text of a snippet, possibly cut. */
  preview: maybe(z.string()),
  preview_is_truncated: maybe(z.boolean()),
});

/**
 * A shared message, a link preview, or content added by an app:
 * https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments
 */
const attachment = z.object({
  is_share: maybe(z.boolean()),
  is_msg_unfurl: maybe(z.boolean()),
  author_id: maybe(z.string()),
  author_name: maybe(z.string()),
  title: maybe(z.string()),
  text: maybe(z.string()),
  fallback: maybe(z.string()),
  from_url: maybe(z.string()),
  message_blocks: maybe(z.array(z.object({ message: maybe(z.object({ blocks: maybe(z.unknown()) })) }))),
  files: maybe(z.array(file)),
});

/** https://docs.slack.dev/reference/events/message */
const message = z.object({
  subtype: maybe(z.string()),
  user: maybe(z.string()),
  bot_id: maybe(z.string()),
  text: maybe(z.string()),
  /** https://docs.slack.dev/reference/block-kit: read if there is no text. */
  blocks: maybe(z.unknown()),
  ts: maybe(z.string()),
  thread_ts: maybe(z.string()),
  /** Author of the thread's first message. */
  parent_user_id: maybe(z.string()),
  files: maybe(z.array(file)),
  attachments: maybe(z.array(attachment)),
  /** Set if Slack resends a mention because the message was edited. */
  edited: maybe(z.object({})),
});

/**
 * A message, or an edit or deletion of one: https://docs.slack.dev/reference/events/message/message_changed,
 * https://docs.slack.dev/reference/events/message/message_deleted
 */
const event = z.extend(message, {
  type: z.string(),
  channel: maybe(z.string()),
  channel_type: maybe(z.string()),
  message: maybe(message),
  deleted_ts: maybe(z.string()),
});

/** An Events API body: https://docs.slack.dev/apis/events-api/#event-type-structure */
export const slackBodySchema = z.object({
  type: z.literal("event_callback"),
  authorizations: maybe(z.array(z.object({ user_id: z.string(), is_bot: maybe(z.boolean()) }))),
  event,
});

/** A button press: https://docs.slack.dev/reference/interaction-payloads/block_actions-payload */
export const slackPressSchema = z.object({
  type: z.literal("block_actions"),
  user: z.object({ id: z.string(), username: maybe(z.string()) }),
  channel: z.object({ id: z.string() }),
  message: z.object({ ts: z.string(), thread_ts: maybe(z.string()), text: maybe(z.string()) }),
  actions: z.array(z.object({ value: z.string() })),
});

/** Documented fields that are irrelevant to the model: https://docs.slack.dev/reference/events/message */
const SILENT_FIELDS = `client_msg_id team event_ts app_id bot_profile upload display_as_bot hidden
  previous_message user_team source_team user_profile is_locked subscribed reply_count reply_users
  reply_users_count latest_reply last_read metadata root permalink assistant_thread username icons inviter topic purpose
  name old_name item reaction item_user item_type x_files language no_notifications is_starred pinned_to reactions
  thread_type unread_count`.split(/\s+/);
const OUTER_FIELDS =
  `token team_id context_team_id context_enterprise_id api_app_id event_id event_time event_context
  is_ext_shared_channel authed_users enterprise_id`.split(/\s+/);

export function unknownParts(payload: Record<string, unknown>): string[] {
  if (payload["type"] === "block_actions") return [];
  return [
    ...unknownFields(payload, "", { read: slackBodySchema.shape, left: OUTER_FIELDS }),
    ...unknownFields(payload["event"], "event", { read: event.shape, left: SILENT_FIELDS }),
  ];
}

export type SlackEvent = z.infer<typeof event>;
type SlackFile = z.infer<typeof file>;
type SlackAttachment = z.infer<typeof attachment>;

/** Returns a message's text. `inText` changes Slack's raw text before the markup is converted. */
export function readWords({ text, blocks, files }: SlackEvent, inText: (text: string) => string): string {
  const words = readSlackText(inText(text || textOfBlocks(blocks))).trim();
  return [words, ...snippets(files ?? [])].filter((part) => part !== "").join("\n");
}

/**
 * Returns the texts of files that Slack made from pasted text. Marks each text that Slack may have cut off.
 */
function snippets(files: readonly SlackFile[]): string[] {
  return files.filter(isSnippet).map(({ name, preview, preview_is_truncated: isCut }) => {
    return `${remark("snippet", name ?? "", isCut === false ? "" : "its beginning")}\n${preview}`;
  });
}

function isSnippet({ mode, preview }: SlackFile): boolean {
  return mode === "snippet" && (preview ?? "") !== "";
}

/** Returns a message's files, without snippets that the message's text contains completely. */
export function readFiles(files: readonly SlackFile[]): Attachment[] {
  const isToldWhole = (one: SlackFile) => isSnippet(one) && one.preview_is_truncated === false;
  return files.filter((one) => one.mode !== "tombstone" && !isToldWhole(one)).map(readFile);
}

function readFile({ id, name, mimetype, size, duration_ms: ms, subtype }: SlackFile): Attachment {
  const kind = subtype === "slack_audio" ? "audio" : attachmentKind(mimetype ?? undefined);
  return {
    kind,
    reference: id,
    // Omit the name of a recording made in Slack, since all have the same name.
    ...(name && subtype !== "slack_audio" && { name }),
    ...(kind === "audio" && ms !== undefined && { seconds: ms / 1_000 }),
    ...(mimetype && { mediaType: mimetype }),
    ...(typeof size === "number" && { sizeBytes: size }),
  };
}

/** Returns the attachments that are shared messages; skips previews. */
export function readShared(attachments: readonly SlackAttachment[]): Reference[] {
  return attachments.filter((one) => one.is_share || one.is_msg_unfurl).flatMap(readSharedMessage);
}

function readSharedMessage(shared: SlackAttachment): Reference[] {
  const { author_id: id, author_name: name, title, text, fallback, message_blocks: messages } = shared;
  const blocks = textOfBlocks(messages?.map(({ message }) => message?.blocks));
  const said = text || blocks || fallback || title || "";
  const attachments = readFiles(shared.files ?? []);
  if (said === "" && attachments.length === 0) return [];
  const author = { ...(id && { id }), ...(name && { name }) };
  const isKnown = Object.keys(author).length > 0;
  return [{ kind: "forward", ...(isKnown && { author }), text: readSlackText(said).trim(), attachments }];
}

/** Subtypes of people's new messages. All others are changes and notices. */
const MESSAGE_SUBTYPES = new Set(["", "file_share", "me_message", "thread_broadcast"]);
const GROUP_TYPES = new Set(["channel", "group", "mpim"]);

/**
 * Parses a new, edited or deleted message, or a button press. In a channel, the bot is addressed by a mention, by a
 * reply in a thread that it began or, if the config requires no mention, by any message.
 */
export function readSlackEvent(payload: Record<string, unknown>, access: ChannelAccess): Inbound {
  const press = slackPressSchema.safeParse(payload).data;
  if (press !== undefined) return readPress(press, access);
  const parsed = slackBodySchema.safeParse(payload);
  if (!parsed.success) return ignored("not an event of a known form");
  const { event, authorizations } = parsed.data;
  const bot = authorizations?.find(({ is_bot }) => is_bot !== false)?.user_id;
  const { type, subtype, channel = "", channel_type: kind, message } = event;
  if (type !== "message" || (subtype !== "message_changed" && subtype !== "message_deleted")) {
    const inbound = readMessage(event, bot, access);
    return event.edited === undefined ? inbound : asEdit(inbound);
  }
  // If a deleted message has replies, Slack puts a tombstone in its place.
  const deleted = message?.subtype === "tombstone" ? message.ts : event.deleted_ts;
  if (deleted) return { kind: "deleted", target: { chat: channel }, message: deleted };
  if (message === undefined) return ignored(`subtype ${subtype}`);
  const place = { type, channel, channel_type: kind ?? (channel.startsWith("D") ? "im" : "channel") };
  return asEdit(readMessage({ ...message, ...place }, bot, access));
}

function readMessage(event: SlackEvent, bot: string | undefined, access: ChannelAccess): Inbound {
  const type = event.channel_type ?? "";
  const mentioned = event.type === "app_mention";
  const direct = event.type === "message" && type === "im";
  if (!direct && !mentioned && !(event.type === "message" && GROUP_TYPES.has(type)))
    return ignored(`neither message nor mention: ${event.type}`);
  if (!MESSAGE_SUBTYPES.has(event.subtype ?? "")) return ignored(`subtype ${event.subtype}`);
  if (event.bot_id) return ignored("written by a bot");
  const { channel, user, ts } = event;
  if (!channel || !user || !ts) return ignored("no sender");
  if (user === bot || user === "USLACKBOT") return ignored("written by a bot");
  if (!direct && !mentioned && mentions(event.text, bot))
    return ignored("a mention, which Slack sends as a separate event");

  const text = readWords(event, (said) => withoutMention(said, bot));
  const attachments = readFiles(event.files ?? []);
  const references = readShared(event.attachments ?? []);
  const isEmpty = text === "" && attachments.length === 0 && references.length === 0;
  // Ignore a message with only a mention. Otherwise, the bot would call it unreadable.
  if (isEmpty && event.text) return ignored("no text");
  const target = replyTarget(channel, direct ? event.thread_ts : event.thread_ts || ts);
  const inThread = event.thread_ts && { inThread: true };
  const shared = references.length > 0 && { references };
  const message = {
    direct,
    sender: { id: user },
    text,
    attachments,
    ...shared,
    target,
    message: ts,
    ...inThread,
  };
  if (direct) {
    const decision = access.direct(user);
    if (decision.allowed)
      return isEmpty
        ? unreadableMessage(target)
        : { kind: "message", admission: decision.admission, ...message };
    const { answer, reason: note } = decision;
    if (answer === "ignore") return ignored(note);
    if (answer === "pair") return { kind: "unpaired", sender: user, target, note };
    return { kind: "refused", target, text: unknownSenderText("slack", user), note };
  }
  const addressed = mentioned || (bot !== undefined && event.parent_user_id === bot);
  const decision = access.group(channel, user, addressed);
  if (decision.becomes === "ignored") return ignored(decision.reason, decision.unlisted);
  if (!isEmpty) return { kind: decision.becomes, admission: decision.admission, ...message };
  return decision.becomes === "message" ? unreadableMessage(target) : ignored("no text");
}

/** Parses a button press, which is authorized like a message from the same person. */
function readPress(
  { user, channel, message, actions }: z.infer<typeof slackPressSchema>,
  access: ChannelAccess,
): Inbound {
  // Ids of direct messages begin with D: https://docs.slack.dev/reference/objects/conversation-object
  const direct = channel.id.startsWith("D");
  const decision = direct ? access.direct(user.id) : access.group(channel.id, user.id, true);
  return {
    kind: "pressed",
    direct,
    ...("admission" in decision && { admission: decision.admission }),
    sender: { id: user.id, ...(user.username !== undefined && { username: user.username }) },
    target: replyTarget(channel.id, message.thread_ts),
    press: actions[0]?.value ?? "",
    ticket: user.id,
    message: message.ts,
    ...(message.text !== undefined && { text: message.text }),
  };
}

function mentions(text: string | undefined, bot: string | undefined): boolean {
  return bot !== undefined && mentionsUser(text ?? "", bot);
}

function replyTarget(chat: string, thread: string | undefined): ReplyTarget {
  return thread ? { chat, thread } : { chat };
}

function ignored(note: string, unlisted?: string): Inbound {
  return { kind: "ignored", note, unlisted };
}
