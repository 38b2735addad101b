import { describe, expect, test } from "vitest";
import { BOT, message, read, telegramAccess, SOMEBODY, THE_BOT, marked } from "../support/telegram.ts";

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
  ["a pinned message", { text: undefined, pinned_message: message() }, "no text"],
  ["nothing but the mention", marked("@StewardBot", { type: "mention", of: "@StewardBot" }), "no text"],
])("in a group %s is left alone", (_, extra, note) => {
  expect(read(extra, "group")).toEqual({ kind: "ignored", note });
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
    expect(() => read(named, "group", unnamed)).toThrow("has not been requested from Telegram");
    const command = marked("/new@StewardBot", { type: "bot_command", of: "/new@StewardBot" });
    expect(() => read(command, "group", unnamed)).toThrow("has not been requested from Telegram");
    expect(read({}, "group", unnamed)).toMatchObject({ kind: "context" });
    expect(read(named, "private", unnamed)).toMatchObject({ kind: "message" });
  });
});

describe("a group that becomes a supergroup", () => {
  const OLD = "-987654321";
  const NEW = "-1001234567890";
  const note = `the group became a supergroup: its id changed from ${OLD} to ${NEW}`;
  const listed = telegramAccess({ groupPolicy: "allowlist", groups: { [OLD]: { requireMention: false } } });
  const moves = { knownAs: (chat: string) => (chat === NEW ? OLD : chat) };

  test("is told in the chat before and in the chat after", () => {
    const before = { text: undefined, migrate_to_chat_id: Number(NEW) };
    const after = { text: undefined, migrate_from_chat_id: Number(OLD) };
    const moved = { kind: "moved", former: OLD, chat: NEW, note };
    expect(read(before, "group", { access: listed })).toEqual(moved);
    expect(read(after, "supergroup", { access: listed })).toEqual(moved);
  });

  test("that is not on the list is none that counts", () => {
    const access = telegramAccess({ groupPolicy: "allowlist", groups: { "-1": {} } });
    const before = { text: undefined, migrate_to_chat_id: Number(NEW) };
    expect(read(before, "group", { access })).toMatchObject({ kind: "ignored", unlisted: OLD });
  });

  test("goes on as the chat that it was, with its rights", () => {
    expect(read({ text: "hi" }, "supergroup", { access: listed, moves })).toMatchObject({
      kind: "message",
      target: { chat: OLD },
    });
    expect(read({ text: "hi" }, "supergroup", { access: listed })).toMatchObject({
      kind: "ignored",
      unlisted: NEW,
    });
  });

  test("may be listed by its new id", () => {
    const access = telegramAccess({ groupPolicy: "allowlist", groups: { [NEW]: { requireMention: false } } });
    expect(read({ text: "hi" }, "supergroup", { access, moves })).toMatchObject({ kind: "message" });
  });
});
