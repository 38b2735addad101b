import { BOT_USER, command, directCommand, messageEvent, pressed } from "../../support/discord.ts";
import { slackEvent } from "../../support/edge.ts";
import { delivery, directMessage } from "../support/gateway.ts";

const PERSON = { id: 123456789, is_bot: false, first_name: "Ada", username: "ada" };
const PRIVATE = { id: 123456789, type: "private", first_name: "Ada" };
const GROUP = { id: -1001234567890, type: "supergroup", title: "Team", is_forum: true };

function update(message: object, kind = "message"): object {
  const body = { message_id: 7, date: 1_795_000_000, from: PERSON, chat: PRIVATE, text: "hello", ...message };
  return { update_id: 10_000, [kind]: body };
}

/** Updates as https://core.telegram.org/bots/api#update has them. */
export const UPDATES: readonly object[] = [
  update({}),
  update({ edit_date: 1_795_000_001 }, "edited_message"),
  update({
    chat: GROUP,
    message_thread_id: 42,
    is_topic_message: true,
    text: "@steward_bot hello",
    entities: [{ type: "mention", offset: 0, length: 12 }],
    reply_to_message: { message_id: 6, date: 1_795_000_000, chat: GROUP, from: PERSON, text: "before" },
  }),
  update({ text: "/status", entities: [{ type: "bot_command", offset: 0, length: 7 }] }),
  update({
    text: undefined,
    caption: "a photo",
    photo: [{ file_id: "a", file_unique_id: "b", width: 90, height: 90, file_size: 1_000 }],
    document: { file_id: "c", file_unique_id: "d", file_name: "x.pdf", mime_type: "application/pdf" },
  }),
  { update_id: 10_001, poll: { id: "1" } },
].map((one) => JSON.parse(JSON.stringify(one)) as object);

/** Events as https://docs.slack.dev/apis/events-api has them. */
export const EVENTS: readonly object[] = [
  slackEvent(),
  delivery("Ev2", { thread_ts: "99.1" }).payload,
  directMessage("Ev3").payload,
  directMessage("Ev4", {
    subtype: "message_changed",
    message: { text: "edited", user: "U1", ts: "99.1", edited: { user: "U1", ts: "100.1" } },
    previous_message: { text: "hello", user: "U1", ts: "99.1" },
  }).payload,
  directMessage("Ev6", {
    subtype: "message_deleted",
    deleted_ts: "99.1",
    previous_message: { text: "hello", user: "U1", ts: "99.1" },
  }).payload,
  directMessage("Ev5", {
    subtype: "file_share",
    files: [
      { id: "F1", name: "x.png", mimetype: "image/png", size: 10, url_private: "https://files.slack.com/x" },
    ],
    blocks: [{ type: "rich_text", elements: [{ type: "rich_text_section", elements: [] }] }],
  }).payload,
  { type: "app_rate_limited", team_id: "T1", minute_rate_limited: 1_795_000_000 },
];

/** Interactions as https://docs.discord.com/developers/interactions/receiving-and-responding has them. */
export const INTERACTIONS: readonly object[] = [
  { id: "1", application_id: "2", type: 1, token: "unused", version: 1 },
  command("hello"),
  directCommand("hello"),
  directCommand("", { name: "status" }),
  command("hello", { type: 4 }),
  command("see", {
    options: [{ type: 11, name: "file", value: "9" }],
    resolved: {
      attachments: { "9": { id: "9", filename: "x.png", size: 10, url: "https://cdn.discordapp.com/x" } },
    },
  }),
  pressed("a-button"),
];

/** Messages as https://docs.discord.com/developers/events/gateway-events#message-create has them. */
export const DISCORD_MESSAGES: readonly object[] = [
  messageEvent(),
  messageEvent(
    {
      content: `<@${BOT_USER}> and <@7>`,
      mentions: [{ id: BOT_USER }, { id: "7", username: "bo" }],
      type: 19,
      referenced_message: { content: "then", author: { id: "7" }, attachments: [] },
      attachments: [{ id: "9", filename: "x.png", size: 10, url: "https://cdn.discordapp.com/x" }],
      sticker_items: [{ id: "8", name: "wave", format_type: 1 }],
    },
    "server",
  ),
  messageEvent({ message_reference: { type: 1 }, message_snapshots: [{ message: { content: "hello" } }] }),
];
