import { describe, expect, test } from "vitest";
import { deliverySchema } from "../../../runtime/contract/delivery.ts";
import { telegramDelivery } from "../../../runtime/edge/admission/telegram.ts";
import { readTelegramUpdate } from "../../../runtime/gateway/channels/telegram/inbound.ts";
import { BOT, message, read, telegramAccess, update } from "../support/telegram.ts";

const SOMEBODY = { id: 4242, is_bot: false, first_name: "Grace" };
const THE_BOT = { id: Number(BOT.id), is_bot: true, first_name: "steward", username: BOT.username };
const options = {
  access: telegramAccess({ dmPolicy: "open", allowFrom: ["*"] }),
  bot: BOT,
  mediaMaxBytes: 1,
};

/** A text with its entities, each found by the words it stands for. */
function marked(text: string, ...entities: { type: string; of: string; [key: string]: unknown }[]) {
  return {
    text,
    entities: entities.map((entity) =>
      Object.assign(entity, { offset: text.indexOf(entity.of), length: entity.of.length }),
    ),
  };
}

test("a direct message is answered in its chat, under the sender's names", () => {
  expect(read({})).toEqual({
    kind: "message",
    direct: true,
    sender: { id: "123456789", name: "Ada (@ada)" },
    text: "hello",
    attachments: [],
    target: { chat: "123456789" },
  });
});

// One update of every kind that Telegram may deliver and that is no new message.
test.each([
  ["an edit", update({ ...message(), edit_date: 1_795_000_001 }, "edited_message"), "edited_message"],
  [
    "a channel's post",
    update({ message_id: 3, chat: { id: -1002, type: "channel" }, text: "news" }, "channel_post"),
    "channel_post",
  ],
  [
    "a member's change",
    update({ chat: message().chat, new_chat_member: {} }, "my_chat_member"),
    "my_chat_member",
  ],
  ["a button", update({ id: "1", data: "x" }, "callback_query"), "callback_query"],
  ["nothing", { update_id: 1 }, "nothing"],
])("%s is left alone, with the reason", (_, body, what) => {
  expect(readTelegramUpdate(body, options)).toEqual({ kind: "ignored", note: `not a new message: ${what}` });
});

test.each([
  ["a bot's message", { from: { ...SOMEBODY, is_bot: true } }, "written by a bot"],
  ["the bot's own message", { from: THE_BOT }, "written by a bot"],
  [
    "a linked channel's post",
    { sender_chat: { id: -1009, type: "channel" } },
    "written on behalf of a channel",
  ],
  ["nobody's message", { from: undefined }, "no sender"],
  ["a new member", { text: undefined, new_chat_members: [SOMEBODY] }, "no text"],
  ["a new title", { text: undefined, new_chat_title: "Team 2" }, "no text"],
  ["an upgrade", { text: undefined, migrate_to_chat_id: -1001234567890 }, "no text"],
  ["a pinned message", { text: undefined, pinned_message: message() }, "no text"],
  ["nothing but the mention", marked("@StewardBot", { type: "mention", of: "@StewardBot" }), "no text"],
])("in a group %s is left alone", (_, extra, note) => {
  expect(read(extra, "group")).toEqual({ kind: "ignored", note });
});

test("a body of an unknown form is left alone", () => {
  for (const body of [{}, { update_id: 1, message: { text: 5 } }, { update_id: 1, message: { chat: 1 } }])
    expect(readTelegramUpdate(body, options)).toEqual({
      kind: "ignored",
      note: "not an update of a known form",
    });
});

describe("in a group", () => {
  test.each([
    ["a mention", marked("@StewardBot hi", { type: "mention", of: "@StewardBot" }), "hi"],
    [
      "a mention in another case",
      marked("hey @stewardbot hi", { type: "mention", of: "@stewardbot" }),
      "hey hi",
    ],
    ["a mention at the end", marked("hi @StewardBot", { type: "mention", of: "@StewardBot" }), "hi"],
    ["a mention by name", marked("Steward hi", { type: "text_mention", of: "Steward", user: THE_BOT }), "hi"],
    ["a reply to the bot", { text: "why?", reply_to_message: { ...message(), from: THE_BOT } }, "why?"],
    ["a command", marked("/status now", { type: "bot_command", of: "/status" }), "/status now"],
    ["a command by name", marked("/new@StewardBot", { type: "bot_command", of: "/new@StewardBot" }), "/new"],
    [
      "a mention behind signs of two units",
      marked("😀😀 @StewardBot hi", { type: "mention", of: "@StewardBot" }),
      "😀😀 hi",
    ],
    [
      "a mention in a caption",
      {
        text: undefined,
        caption: "@StewardBot look",
        caption_entities: [{ type: "mention", offset: 0, length: 11 }],
        photo: [{ file_id: "a", file_unique_id: "b", width: 90, height: 90, file_size: 1_000 }],
      },
      "look",
    ],
  ])("%s is for the bot", (_, extra, text) => {
    expect(read(extra, "supergroup")).toMatchObject({
      kind: "message",
      direct: false,
      text,
      target: { chat: "-1001234567890" },
    });
  });

  test.each([
    ["an ordinary message", {}],
    ["a mention of somebody", marked("@grace hi", { type: "mention", of: "@grace" })],
    ["a name that begins alike", marked("@StewardBots hi", { type: "mention", of: "@StewardBots" })],
    ["the name without an entity", { text: "mail me at a@StewardBot" }],
    ["a reply to somebody", { reply_to_message: { ...message(), from: SOMEBODY } }],
    [
      "a topic's message, which replies to the topic that the bot made",
      {
        reply_to_message: { ...message(), from: THE_BOT, forum_topic_created: { name: "x", icon_color: 1 } },
      },
    ],
    ["a command in the middle", marked("try /new", { type: "bot_command", of: "/new" })],
  ])("%s is context", (_, extra) => {
    expect(read(extra, "supergroup")).toMatchObject({ kind: "context", direct: false });
  });

  test("a command for another bot is left alone", () => {
    expect(read(marked("/new@other_bot", { type: "bot_command", of: "/new@other_bot" }), "group")).toEqual({
      kind: "ignored",
      note: "a command for another bot",
    });
  });

  test("a topic is the target's thread; a chain of replies is none", () => {
    const topic = { message_thread_id: 42, is_topic_message: true };
    expect(read(topic, "supergroup")).toMatchObject({ target: { chat: "-1001234567890", thread: "42" } });
    expect(read({ message_thread_id: 42 }, "supergroup")).not.toHaveProperty("target.thread");
  });

  test("an anonymous admin writes as the group", () => {
    const from = { id: 1087968824, is_bot: true, first_name: "Group", username: "GroupAnonymousBot" };
    const admin = { from, sender_chat: { id: -987654321, type: "group", title: "Old group" } };
    expect(read(admin, "group")).toMatchObject({ sender: { id: "-987654321", name: "Old group" } });
  });

  test.each([
    ["groups are disabled", { groupPolicy: "disabled" }, "ignored"],
    ["the group is not on the list", { groupPolicy: "allowlist" }, "ignored"],
    ["the config says nothing of groups", { groupPolicy: undefined }, "ignored"],
    ["the group is on the list", { groupPolicy: "allowlist", groups: { "-987654321": {} } }, "message"],
    ["the person is not on the list", { groupAllowFrom: ["1"] }, "ignored"],
    [
      "the person was approved in a direct message only",
      { groupAllowFrom: ["1"], dmPolicy: "pairing" },
      "ignored",
    ],
  ])("%s: a mention is %s", (_, keys, kind) => {
    const extra = {
      from: { ...SOMEBODY, id: 555 },
      ...marked("@StewardBot hi", { type: "mention", of: "@StewardBot" }),
    };
    expect(read(extra, "group", { access: telegramAccess(keys) })).toMatchObject({ kind });
  });

  test("without the need of a mention every message is for the bot", () => {
    const access = telegramAccess({ groups: { "*": { requireMention: false } } });
    expect(read({}, "group", { access })).toMatchObject({ kind: "message" });
  });

  test("before the bot's name is known, what depends on it is tried again", () => {
    const unnamed = { bot: { id: BOT.id, username: undefined } };
    const named = marked("@StewardBot hi", { type: "mention", of: "@StewardBot" });
    expect(() => read(named, "group", unnamed)).toThrow("was not asked for the bot's name");
    const command = marked("/new@StewardBot", { type: "bot_command", of: "/new@StewardBot" });
    expect(() => read(command, "group", unnamed)).toThrow("was not asked for the bot's name");
    expect(read({}, "group", unnamed)).toMatchObject({ kind: "context" });
    expect(read(named, "private", unnamed)).toMatchObject({ kind: "message" });
  });
});

test.each([
  ["pairing, nobody known", {}, 4242, "unpaired"],
  ["pairing, approved", {}, 555, "message"],
  ["allowlist, on the list", { dmPolicy: "allowlist", allowFrom: ["4242"] }, 4242, "message"],
  ["allowlist, not on the list", { dmPolicy: "allowlist" }, 4242, "refused"],
  ["disabled", { dmPolicy: "disabled" }, 555, "ignored"],
])("a direct message under %s", (_, keys, id, kind) => {
  expect(read({ from: { ...SOMEBODY, id } }, "private", { access: telegramAccess(keys) })).toMatchObject({
    kind,
  });
});

test("a stranger is known to the operator by its names", () => {
  const from = { ...SOMEBODY, username: "grace" };
  expect(read({ from }, "private", { access: telegramAccess() })).toMatchObject({
    kind: "unpaired",
    sender: "4242",
    meta: { username: "grace", firstName: "Grace" },
  });
  expect(read({ from: SOMEBODY }, "private", { access: telegramAccess() })).toMatchObject({
    meta: { firstName: "Grace" },
  });
});

test("the button that opens a chat asks for help; links behind words are written out", () => {
  expect(read(marked("/start", { type: "bot_command", of: "/start" }))).toMatchObject({ text: "/help" });
  const link = marked("see the page now", { type: "text_link", of: "the page", url: "https://x.example/a" });
  expect(read(link)).toMatchObject({ text: "see the page (https://x.example/a) now" });
});

// As https://core.telegram.org/bots/api#available-types has them.
test.each([
  [
    "a photo: the largest size within the cap",
    {
      photo: [
        { file_id: "s", file_unique_id: "1", width: 90, height: 90, file_size: 1_500 },
        { file_id: "m", file_unique_id: "2", width: 320, height: 320, file_size: 20_000 },
        { file_id: "l", file_unique_id: "3", width: 2_560, height: 2_560, file_size: 9_000_000 },
      ],
    },
    { kind: "image", reference: "m", mediaType: "image/jpeg", sizeBytes: 20_000 },
  ],
  [
    "a document",
    {
      document: {
        file_id: "d",
        file_unique_id: "1",
        file_name: "a.pdf",
        mime_type: "application/pdf",
        file_size: 9,
      },
    },
    { kind: "file", reference: "d", name: "a.pdf", mediaType: "application/pdf", sizeBytes: 9 },
  ],
  [
    "an image sent as a file",
    { document: { file_id: "d", file_unique_id: "1", file_name: "a.png", mime_type: "image/png" } },
    { kind: "image", reference: "d", name: "a.png", mediaType: "image/png" },
  ],
  [
    "a voice message",
    { voice: { file_id: "v", file_unique_id: "1", duration: 3, mime_type: "audio/ogg", file_size: 4 } },
    { kind: "audio", reference: "v", mediaType: "audio/ogg", sizeBytes: 4 },
  ],
  [
    "music",
    {
      audio: {
        file_id: "a",
        file_unique_id: "1",
        duration: 3,
        title: "x",
        file_name: "x.mp3",
        mime_type: "audio/mpeg",
      },
    },
    { kind: "audio", reference: "a", name: "x.mp3", mediaType: "audio/mpeg" },
  ],
  [
    "a video",
    { video: { file_id: "v", file_unique_id: "1", width: 1, height: 1, duration: 1, file_name: "v.mp4" } },
    { kind: "video", reference: "v", name: "v.mp4", mediaType: "video/mp4" },
  ],
  [
    "a round video",
    { video_note: { file_id: "n", file_unique_id: "1", length: 1, duration: 1 } },
    { kind: "video", reference: "n", mediaType: "video/mp4" },
  ],
  [
    "a sticker",
    {
      sticker: {
        file_id: "s",
        file_unique_id: "1",
        type: "regular",
        width: 512,
        height: 512,
        is_animated: false,
        is_video: false,
        emoji: "👍",
      },
    },
    { kind: "image", reference: "s", name: "sticker 👍", mediaType: "image/webp" },
  ],
  [
    "an animated sticker",
    {
      sticker: {
        file_id: "s",
        file_unique_id: "1",
        type: "regular",
        width: 512,
        height: 512,
        is_animated: true,
        is_video: false,
      },
    },
    { kind: "file", reference: "s", name: "sticker", mediaType: "application/x-tgsticker" },
  ],
  [
    "a GIF, which comes as a document too",
    {
      animation: {
        file_id: "g",
        file_unique_id: "1",
        width: 1,
        height: 1,
        duration: 1,
        mime_type: "video/mp4",
      },
      document: { file_id: "g", file_unique_id: "1", mime_type: "video/mp4" },
    },
    { kind: "video", reference: "g", mediaType: "video/mp4" },
  ],
])("%s", (_, files, attachment) => {
  expect(read({ text: undefined, caption: "look", ...files })).toMatchObject({
    kind: "message",
    text: "look",
    attachments: [attachment],
  });
  expect(read({ text: undefined, ...files })).toMatchObject({
    kind: "message",
    text: "",
    attachments: [attachment],
  });
});

test.each([
  ["a location", { location: { latitude: 52.5, longitude: 13.4 } }, "[location: 52.5, 13.4]"],
  [
    "a place",
    {
      location: { latitude: 52.5, longitude: 13.4 },
      venue: { location: { latitude: 52.5, longitude: 13.4 }, title: "Café", address: "A street 1" },
    },
    "[place: Café, A street 1]\n[location: 52.5, 13.4]",
  ],
  [
    "a contact",
    { contact: { phone_number: "+491", first_name: "Grace", last_name: "H", user_id: 1 } },
    "[contact: Grace H, +491]",
  ],
  [
    "a poll",
    {
      poll: {
        id: "1",
        question: "Tea?",
        options: [
          { text: "yes", voter_count: 0 },
          { text: "no", voter_count: 0 },
        ],
      },
    },
    "[poll: Tea? yes / no]",
  ],
])("%s is told in words", (_, extra, text) => {
  expect(read({ text: undefined, ...extra })).toMatchObject({ kind: "message", text });
});

/** Numbers that look like chance and are the same in each run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

test("2,000 updates that are not what Telegram sends are read without a crash", () => {
  const random = generator(11);
  const strange = [null, undefined, 0, -1, 1e308, "", "x", "\u0000", [], {}, [{}], true, { id: {} }];
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const damage = (value: unknown): unknown => {
    if (random() < 0.12) return pick(strange);
    if (Array.isArray(value)) return value.map(damage);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, damage(item)]));
  };
  const whole = [
    message(marked("@StewardBot /x hi", { type: "mention", of: "@StewardBot" }), "supergroup"),
    message(
      { ...marked("/new@a", { type: "bot_command", of: "/new@a" }), reply_to_message: message() },
      "group",
    ),
    message({ photo: [{ file_id: "a", file_size: 1 }], sticker: { file_id: "b" }, caption: "c" }),
  ];
  const kinds = new Set<string>();
  for (let round = 0; round < 2_000; round += 1) {
    const body = damage(update(pick(whole)));
    const payload = typeof body === "object" && body !== null ? { ...body } : {};
    kinds.add(readTelegramUpdate(payload, options).kind);
    const recorded = telegramDelivery(payload, 1);
    const valid = recorded === undefined || deliverySchema.safeParse(recorded).success;
    expect(valid, JSON.stringify(payload)).toBe(true);
  }
  expect(kinds).toEqual(new Set(["ignored", "message", "context"]));
});
