import { expect } from "vitest";
import { BOT_USER, directCommand, messageCreate, messageEvent, pressed } from "../../support/discord.ts";
import { directMessage } from "./gateway.ts";
import { SOMEBODY, THE_BOT, marked, message } from "./telegram.ts";

/** What becomes of a kind of message: it is read, or left alone with a note; or somebody is told that it cannot be read. */
export type Fate = "read" | "left" | "told";

interface Sample {
  /** The platform's body, or the parts that make it one. */
  payload: object;
  /** Where it is written. Without it in a direct message. */
  place?: "group";
  fate: Fate;
  /** Parts of what is made of it. */
  expected: object;
}

const NO_TEXT = { text: undefined };
const BO = { id: 77, is_bot: false, first_name: "Bo" };
const FILE = { file_id: "f", file_unique_id: "u", file_size: 10 };
const PICTURE = { ...FILE, width: 9, height: 9 };
const IMAGE = { kind: "image", reference: "f" };
const ORIGIN = { type: "user", date: 1, sender_user: BO };
const QUOTED = { text: "18450 crowns", position: 15 };
const OUTER = { origin: { type: "channel", date: 1, chat: { id: -1, title: "News" }, message_id: 3 } };

const read = (payload: object, expected: object): Sample => ({ payload, fate: "read", expected });
const media = (payload: object, attachment: object, text = ""): Sample =>
  read({ ...NO_TEXT, ...payload }, { text, attachments: [attachment] });
const remark = (payload: object, text: string): Sample => read({ ...NO_TEXT, ...payload }, { text });
const left = (payload: object, note: string, place?: "group"): Sample => ({
  payload,
  ...(place && { place }),
  fate: "left",
  expected: { note },
});
const notice = (payload: object): Sample => left({ ...NO_TEXT, ...payload }, "no text", "group");
const told = (payload: object): Sample => ({
  payload: { ...NO_TEXT, ...payload },
  fate: "told",
  expected: {},
});

/** Kinds of Telegram's messages, as https://core.telegram.org/bots/api#message has them. */
export const TELEGRAM: Record<string, Sample> = {
  text: read({ text: "hello" }, { text: "hello" }),
  "formatted text": remark({ rich_message: { blocks: [{ type: "heading", text: "Prices" }] } }, "# Prices"),
  "link behind words": read(marked("see this", { type: "text_link", of: "this", url: "https://x.example" }), {
    text: "see this (https://x.example)",
  }),
  command: read(marked("/status now", { type: "bot_command", of: "/status" }), { text: "/status now" }),
  "command for another bot": left(
    marked("/x@OtherBot", { type: "bot_command", of: "/x@OtherBot" }),
    "a command for another bot",
    "group",
  ),
  "link that opens the chat": read(marked("/start invite_7f", { type: "bot_command", of: "/start" }), {
    text: "/help",
  }),
  mention: {
    ...read(marked("@StewardBot hi", { type: "mention", of: "@StewardBot" }), { text: "hi" }),
    place: "group",
  },
  reply: read(
    { text: "fair?", reply_to_message: message({ from: BO, text: "18450" }) },
    {
      references: [{ kind: "reply", text: "18450", author: { name: "Bo" } }],
    },
  ),
  "chosen part": read(
    { text: "fair?", reply_to_message: message({ from: BO }), quote: QUOTED },
    {
      references: [{ kind: "quote", text: "18450 crowns" }],
    },
  ),
  "reply to another chat": read(
    { text: "fair?", external_reply: OUTER, quote: QUOTED },
    {
      references: [{ kind: "quote", author: { name: "News" } }],
    },
  ),
  "forwarded message": read(
    { text: "hello", forward_origin: ORIGIN },
    {
      text: "",
      references: [{ kind: "forward", text: "hello" }],
    },
  ),
  photo: media({ photo: [PICTURE], caption: "look" }, IMAGE, "look"),
  "live photo": media({ live_photo: { ...FILE, photo: [PICTURE] } }, IMAGE),
  "picture as a file": media({ document: { ...FILE, mime_type: "image/png" } }, IMAGE),
  album: media({ media_group_id: "g", photo: [PICTURE] }, IMAGE),
  animation: media({ animation: FILE, document: FILE }, { kind: "video" }),
  sticker: media({ sticker: { ...FILE, emoji: "🙂" } }, { kind: "image", name: "sticker 🙂" }),
  "animated sticker": media({ sticker: { ...FILE, is_animated: true } }, { kind: "file" }),
  "voice note": media({ voice: { ...FILE, duration: 3 } }, { kind: "audio", seconds: 3 }),
  music: media({ audio: { ...FILE, duration: 3 } }, { kind: "audio" }),
  video: media({ video: { ...PICTURE, duration: 3 } }, { kind: "video" }),
  "round video": media({ video_note: { ...FILE, length: 9, duration: 3 } }, { kind: "video" }),
  file: media({ document: { ...FILE, file_name: "a.pdf" } }, { kind: "file", name: "a.pdf" }),
  location: remark({ location: { latitude: 1, longitude: 2 } }, "[location: 1, 2]"),
  place: remark({ venue: { title: "Pub", address: "Main St" } }, "[place: Pub, Main St]"),
  contact: remark({ contact: { first_name: "Bo", phone_number: "+1" } }, "[contact: Bo, +1]"),
  poll: remark({ poll: { question: "Tea?", options: [{ text: "yes" }] } }, "[poll: Tea? yes]"),
  checklist: remark(
    { checklist: { title: "Buy", tasks: [{ id: 1, text: "milk" }] } },
    "[checklist: Buy, milk]",
  ),
  dice: remark({ dice: { emoji: "🎲", value: 4 } }, "[dice: 🎲, 4]"),
  game: remark({ game: { title: "Chess" } }, "[game: Chess]"),
  invoice: remark({ invoice: { title: "Fee" } }, "[invoice: Fee]"),
  story: told({ story: { chat: { id: 1 }, id: 1 } }),
  "paid media": told({ paid_media: { star_count: 1, paid_media: [] } }),
  "message in a topic": {
    ...read(
      {
        text: "@StewardBot hi",
        message_thread_id: 5,
        is_topic_message: true,
        entities: [{ type: "mention", offset: 0, length: 11 }],
      },
      { target: { thread: "5" } },
    ),
    place: "group",
  },
  "message that only its sender sees": left(
    { ephemeral_message_id: 31, receiver_user: THE_BOT },
    "a message that only its sender sees",
    "group",
  ),
  edit: read({ edited_message: message() }, { text: "hello", message: "7", edited: true }),
  reaction: left({ message_reaction: {} }, "not a message: message_reaction"),
  button: read(
    {
      callback_query: {
        id: "1",
        from: BO,
        data: "x",
        message: { message_id: 3, chat: { id: 77, type: "private" } },
      },
    },
    {
      kind: "pressed",
      press: "x",
      ticket: "1",
      message: "3",
      sender: { id: "77" },
      admission: { by: "everyone" },
    },
  ),
  "channel post": left({ channel_post: message() }, "not a message: channel_post"),
  "new member": notice({ new_chat_members: [SOMEBODY] }),
  "new title": notice({ new_chat_title: "Team" }),
  "pinned message": notice({ pinned_message: message() }),
  "video chat": notice({ video_chat_started: {} }),
  giveaway: notice({ giveaway_created: {} }),
  gift: notice({ gift: {} }),
  "chat background": notice({ chat_background_set: {} }),
  "new owner": notice({ chat_owner_changed: {} }),
  community: notice({ community_chat_added: {} }),
  "poll option": notice({ poll_option_added: {} }),
  "managed bot": notice({ managed_bot_created: {} }),
  "suggested post": notice({ suggested_post_approved: {} }),
  "unknown kind in a group": notice({ hologram: { id: 1 } }),
  "unknown kind": told({ hologram: { id: 1 } }),
  "message of a bot": left({ from: THE_BOT }, "written by a bot"),
  "message of a channel": left(
    { sender_chat: { id: -9, title: "News" } },
    "written on behalf of a channel",
    "group",
  ),
};

const SHARED = { is_share: true, author_name: "Bo", text: "14 May", fallback: "x" };
const UPLOAD = { id: "F1", name: "a.png", mimetype: "image/png" };

/** Kinds of Slack's messages, as https://docs.slack.dev/reference/events/message has them. */
export const SLACK: Record<string, Sample> = {
  text: read({ text: "hello" }, { text: "hello" }),
  "formatted text": read(
    { text: "", blocks: [{ type: "header", text: { type: "plain_text", text: "Prices" } }] },
    {
      text: "# Prices",
    },
  ),
  "link behind words": read(
    { text: "see <https://x.example|this>" },
    { text: "see this (https://x.example)" },
  ),
  command: read({ text: "/status" }, { text: "/status" }),
  mention: {
    ...read(
      { type: "app_mention", channel: "C1", channel_type: undefined, text: "<@UBOT> hi" },
      { text: "hi" },
    ),
  },
  "forwarded message": read(
    { text: "", attachments: [SHARED] },
    {
      text: "",
      references: [{ kind: "forward", text: "14 May" }],
    },
  ),
  "shared message with words": read(
    { text: "hm?", attachments: [SHARED] },
    {
      text: "hm?",
      references: [{ kind: "forward" }],
    },
  ),
  "link's preview": read(
    { text: "https://x.example", attachments: [{ title: "A page" }] },
    { text: "https://x.example" },
  ),
  photo: read(
    { subtype: "file_share", text: "look", files: [UPLOAD] },
    {
      text: "look",
      attachments: [{ kind: "image", reference: "F1" }],
    },
  ),
  "voice note": read(
    {
      subtype: "file_share",
      text: "",
      files: [
        {
          id: "F1",
          name: "audio_message.m4a",
          subtype: "slack_audio",
          mimetype: "audio/mp4",
          duration_ms: 3000,
        },
      ],
    },
    {
      attachments: [{ kind: "audio", seconds: 3 }],
    },
  ),
  video: read(
    { subtype: "file_share", text: "", files: [{ id: "F1", mimetype: "video/mp4" }] },
    {
      attachments: [{ kind: "video" }],
    },
  ),
  file: read(
    { subtype: "file_share", text: "", files: [{ id: "F1", name: "a.pdf" }] },
    {
      attachments: [{ kind: "file", name: "a.pdf" }],
    },
  ),
  snippet: read(
    { subtype: "file_share", text: "", files: [{ id: "F1", mode: "snippet", preview: "x=1" }] },
    {
      text: expect.stringContaining("x=1"),
    },
  ),
  "deleted file": read(
    { subtype: "file_share", text: "x", files: [{ id: "F1", mode: "tombstone" }] },
    {
      text: "x",
      attachments: [],
    },
  ),
  "message in a thread": read(
    { text: "hi", thread_ts: "99.9" },
    { target: { thread: "99.9" }, inThread: true },
  ),
  "thread's message for all": read(
    { subtype: "thread_broadcast", text: "hi", thread_ts: "99.9" },
    { text: "hi" },
  ),
  "/me": read({ subtype: "me_message", text: "wonders" }, { text: "wonders" }),
  edit: read(
    { subtype: "message_changed", text: undefined, message: { user: "U1", ts: "1.1", text: "hello" } },
    { text: "hello", message: "1.1", edited: true },
  ),
  deletion: read(
    { subtype: "message_deleted", text: undefined, deleted_ts: "1.1" },
    { kind: "deleted", message: "1.1" },
  ),
  reaction: left({ type: "reaction_added" }, "neither message nor mention: reaction_added"),
  "new member": left({ subtype: "channel_join" }, "subtype channel_join"),
  "new title": left({ subtype: "channel_name" }, "subtype channel_name"),
  "pinned message": left({ subtype: "pinned_item" }, "subtype pinned_item"),
  button: read(
    {
      type: "block_actions",
      user: { id: "U1", username: "ada" },
      channel: { id: "D1" },
      message: { ts: "1.1", text: "Which?" },
      actions: [{ action_ts: "1.2", value: "x" }],
    },
    { kind: "pressed", press: "x", ticket: "U1", message: "1.1", text: "Which?", direct: true },
  ),
  "message of a bot": left({ bot_id: "B1" }, "written by a bot"),
  "unknown kind": told({ text: "", hologram: {} }),
};

const AUTHOR = { id: "77", username: "bo", global_name: "Bo" };
const THE_BOT_USER = { id: BOT_USER, username: "steward", bot: true };
const ATTACHED = { id: "5", filename: "a", size: 9, url: "https://cdn.discordapp.com/attachments/1/2/a" };

const ATTACHED_IMAGE = { ...ATTACHED, content_type: "image/png" };

const attached = (type: string, expected: object, more: object = {}): Sample =>
  read(
    { content: "", attachments: [{ ...ATTACHED, content_type: type, ...more }] },
    { attachments: [expected] },
  );
const onServer = (sample: Sample): Sample => ({ ...sample, place: "group" });
const mentioning = (payload: object, expected: object): Sample =>
  onServer(
    read(
      { content: `<@${BOT_USER}> hi`, mentions: [THE_BOT_USER], ...payload },
      { direct: false, ...expected },
    ),
  );
const replied = (answered: object) => ({
  type: 19,
  message_reference: { type: 0, message_id: "3", channel_id: "4" },
  referenced_message: messageCreate({ author: AUTHOR, ...answered }),
});

/** Kinds of Discord's interactions and messages: https://docs.discord.com/developers/resources/message#message-object */
export const DISCORD: Record<string, Sample> = {
  text: read({ content: "hello" }, { text: "hello", direct: true }),
  "formatted text": read({ content: "**Prices**\n- 1" }, { text: "**Prices**\n- 1" }),
  "link behind words": read({ content: "[this](https://x.example)" }, { text: "[this](https://x.example)" }),
  command: read(directCommand("", { name: "status", options: [] }), { text: "/status" }),
  mention: mentioning({}, { text: "hi", target: { answers: expect.any(String) } }),
  "mention of somebody else": read({ content: "ask <@77>", mentions: [AUTHOR] }, { text: "ask @Bo" }),
  reply: read(
    { content: "fair?", ...replied({ content: "18450" }) },
    { text: "fair?", references: [{ kind: "reply", text: "18450", author: { name: "Bo" } }] },
  ),
  "mention below a message": mentioning(
    { content: `<@${BOT_USER}>`, ...replied({ content: "" }) },
    {
      text: "",
      references: [{ kind: "reply", text: expect.stringContaining("bot cannot see its text") }],
    },
  ),
  "reply without a mention": onServer({
    payload: { content: "", ...replied({ author: THE_BOT_USER, content: "18450" }) },
    fate: "told",
    expected: { text: expect.stringContaining("leave the @ of your reply on") },
  }),
  "forwarded message": read(
    {
      content: "",
      message_reference: { type: 1, message_id: "3", channel_id: "4" },
      message_snapshots: [{ message: { content: "hello", attachments: [], embeds: [], type: 0 } }],
    },
    { text: "", references: [{ kind: "forward", text: "hello" }] },
  ),
  photo: attached("image/png", { kind: "image", name: "a", sizeBytes: 9, reference: ATTACHED.url }),
  album: read(
    {
      content: "",
      attachments: [ATTACHED_IMAGE, { ...ATTACHED_IMAGE, id: "6" }],
    },
    { attachments: [{ kind: "image" }, { kind: "image" }] },
  ),
  sticker: read(
    { content: "", sticker_items: [{ id: "8", name: "wave", format_type: 1 }] },
    {
      attachments: [
        { kind: "image", name: "sticker wave", reference: "https://cdn.discordapp.com/stickers/8.png" },
      ],
    },
  ),
  "animated sticker": read(
    { content: "", sticker_items: [{ id: "8", name: "wave", format_type: 3 }] },
    { attachments: [{ kind: "file" }] },
  ),
  "voice note": {
    ...attached("audio/ogg", { kind: "audio", seconds: 3 }, { duration_secs: 3, waveform: "" }),
  },
  video: attached("video/mp4", { kind: "video" }),
  file: attached("application/pdf", { kind: "file" }),
  poll: read(
    {
      content: "",
      poll: {
        question: { text: "Tea?" },
        answers: [{ answer_id: 1, poll_media: { text: "yes" } }],
        expiry: null,
        allow_multiselect: false,
        layout_type: 1,
      },
    },
    { text: "[poll: Tea? yes]" },
  ),
  "link's preview": read(
    { content: "https://x.example", embeds: [{ title: "A page" }] },
    { text: "https://x.example" },
  ),
  "message in a thread": mentioning(
    { channel_id: "99", channel_type: 11, position: 3 },
    { target: { chat: "99" } },
  ),
  "message that only its sender sees": left({ flags: 64 }, "a message that only its sender sees"),
  edit: left({ t: "MESSAGE_UPDATE", bot: BOT_USER, d: messageCreate() }, "not a message of a known form"),
  deletion: left({ t: "MESSAGE_DELETE", bot: BOT_USER, d: { id: "1" } }, "not a message of a known form"),
  reaction: left({ t: "MESSAGE_REACTION_ADD", bot: BOT_USER, d: {} }, "not a message of a known form"),
  button: read(pressed("x"), {
    kind: "pressed",
    press: "x",
    ticket: expect.stringMatching(/^845027738276462632\/aW5/),
    text: "Which?",
    direct: false,
    sender: { id: "53908232506183680", name: "Mason" },
    admission: { by: "group" },
  }),
  "new member": onServer(left({ type: 7, content: "" }, "a service message of type 7")),
  "new title": left({ type: 4, content: "Team" }, "a service message of type 4"),
  "pinned message": left({ type: 6, content: "" }, "a service message of type 6"),
  "unknown kind in a group": onServer(left({ type: 77, content: "" }, "a service message of type 77")),
  "unknown kind": { payload: { content: "", hologram: {} }, fate: "told", expected: {} },
  "message of a bot": left({ author: THE_BOT_USER }, "written by a bot"),
  "message of a webhook": left({ webhook_id: "5" }, "written by a webhook"),
  "message in a chat of several people": left({ channel_type: 3 }, "a chat of type 3"),
};

/** True for a sample of Telegram that is another update than a message. */
export const isUpdate = (payload: object): boolean =>
  Object.keys(payload).some((key) => /^(?:edited_|channel_)|_query$|^message_reaction$/.test(key));

/** Make a sample the body that its platform sends. */
export const bodyOf = {
  telegram: (payload: object, place?: "group"): Record<string, unknown> =>
    isUpdate(payload)
      ? { update_id: 1, ...payload }
      : { update_id: 1, message: message(payload, place === "group" ? "supergroup" : "private") },
  slack: (payload: object): Record<string, unknown> =>
    Object(payload)["type"] === "block_actions"
      ? { ...payload }
      : directMessage("Ev1", { ...payload }).payload,
  // An interaction, or another event of the gateway connection than a new message, is whole.
  discord: (payload: object, place?: "group"): Record<string, unknown> =>
    "application_id" in payload || "t" in payload
      ? { ...payload }
      : messageEvent(payload, place === "group" ? "server" : "direct"),
};
