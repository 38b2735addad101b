import type { Attachment, Reference } from "../../../contract/message.ts";
import * as z from "zod/mini";
import { textOfBlocks } from "../blocks.ts";
import { maybe, unknownFields } from "../payload.ts";
import { attachmentKind } from "../files.ts";
import { remark } from "../../prompt/text.ts";
import { readSlackText } from "./mrkdwn.ts";

/** The parts of a message that are read. Unknown fields are accepted, since Slack adds new ones at any time. */

/** https://docs.slack.dev/reference/objects/file-object */
const file = z.object({
  id: z.string(),
  name: maybe(z.string()),
  mimetype: maybe(z.string()),
  size: maybe(z.number()),
  duration_ms: maybe(z.number()),
  /** `slack_audio`: recorded in Slack. */
  subtype: maybe(z.string()),
  /** `tombstone`: deleted. `hidden_by_limit`: hidden because of the workspace's plan. */
  mode: maybe(z.string()),
  /** Text of a snippet, possibly cut. */
  preview: maybe(z.string()),
  preview_is_truncated: maybe(z.boolean()),
});

/**
 * A shared message, or a preview that an app or a link adds:
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
  /** For a mention: set if Slack resends it because the message was edited. */
  edited: maybe(z.object({})),
});

/**
 * A message or a change of one: https://docs.slack.dev/reference/events/message/message_changed,
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

/** A press of a button: https://docs.slack.dev/reference/interaction-payloads/block_actions-payload */
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

/** Returns the fields of an event that this version does not know. */
export function unknownParts(payload: Record<string, unknown>): string[] {
  if (payload["type"] === "block_actions") return [];
  return [
    ...unknownFields(payload, "", { read: slackBodySchema.shape, left: OUTER_FIELDS }),
    ...unknownFields(payload["event"], "event", { read: event.shape, left: SILENT_FIELDS }),
  ];
}

/** A message, or another event with some of its fields. */
export type SlackEvent = z.infer<typeof event>;
type SlackFile = z.infer<typeof file>;
type SlackAttachment = z.infer<typeof attachment>;

/** Returns a message's text; `inText` is applied before Slack's markup is converted. */
export function readWords({ text, blocks, files }: SlackEvent, inText: (text: string) => string): string {
  const words = readSlackText(inText(text || textOfBlocks(blocks))).trim();
  return [words, ...snippets(files ?? [])].filter((part) => part !== "").join("\n");
}

/** Returns pasted texts that Slack turned into files. */
function snippets(files: readonly SlackFile[]): string[] {
  return files.filter(isSnippet).map(({ name, preview, preview_is_truncated: isCut }) => {
    return `${remark("snippet", name ?? "", isCut === false ? "" : "its beginning")}\n${preview}`;
  });
}

function isSnippet({ mode, preview }: SlackFile): boolean {
  return mode === "snippet" && (preview ?? "") !== "";
}

/** Returns the files, except snippets whose whole text is already part of the message. */
export function readFiles(files: readonly SlackFile[]): Attachment[] {
  const isToldWhole = (one: SlackFile) => isSnippet(one) && one.preview_is_truncated === false;
  return files.filter((one) => one.mode !== "tombstone" && !isToldWhole(one)).map(readFile);
}

function readFile({ id, name, mimetype, size, duration_ms: ms, subtype }: SlackFile): Attachment {
  const kind = subtype === "slack_audio" ? "audio" : attachmentKind(mimetype ?? undefined);
  return {
    kind,
    reference: id,
    // Slack gives all its own recordings the same name.
    ...(name && subtype !== "slack_audio" && { name }),
    ...(kind === "audio" && ms !== undefined && { seconds: ms / 1_000 }),
    ...(mimetype && { mediaType: mimetype }),
    ...(typeof size === "number" && { sizeBytes: size }),
  };
}

/** Returns the messages shared with this one. Previews of links and apps do not count. */
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
