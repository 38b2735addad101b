import { expect, test } from "vitest";
import type { Platform } from "../../../runtime/contract/delivery.ts";
import { placeOf } from "../../../runtime/edge/tenants/place.ts";
import { command, directCommand, MASON, messageCreate } from "../../support/discord.ts";
import { slackEvent } from "../../support/edge.ts";

const ADA = { id: 42, is_bot: false, first_name: "Ada", username: "ada" };
const PRIVATE = { id: 42, type: "private" };
const GROUP = { id: -1001, type: "supergroup" };
const ADA_META = { username: "ada", firstName: "Ada" };
const MASON_META = { username: "mason", firstName: "Mason" };
const SLACK_PRESS = {
  type: "block_actions",
  user: { id: "U1" },
  channel: { id: "C1" },
  actions: [{ action_ts: "1", value: "x" }],
};

test.each<[string, Platform, Record<string, unknown>, object]>([
  ["a mention on Slack", "slack", slackEvent(), { chat: "C1", direct: false, sender: "U1", group: "C1" }],
  [
    "a direct message on Slack",
    "slack",
    slackEvent("Ev1", { type: "message", channel: "D1", channel_type: "im" }),
    { chat: "D1", direct: true, sender: "U1", group: "D1" },
  ],
  [
    "an edit on Slack",
    "slack",
    slackEvent("Ev1", {
      subtype: "message_changed",
      channel: "D1",
      user: undefined,
      message: { user: "U2" },
    }),
    { chat: "D1", direct: true, sender: "U2", group: "D1" },
  ],
  ["a press on Slack", "slack", SLACK_PRESS, { chat: "C1", direct: false, sender: "U1", group: "C1" }],
  [
    "a private message on Telegram",
    "telegram",
    { message: { chat: PRIVATE, from: ADA, text: "hello" } },
    { chat: "42", direct: true, sender: "42", group: "42", meta: ADA_META },
  ],
  [
    "an edit in a topic on Telegram",
    "telegram",
    { edited_message: { chat: GROUP, from: ADA, message_thread_id: 7, is_topic_message: true } },
    { chat: "-1001", direct: false, sender: "42", group: "-1001", meta: ADA_META },
  ],
  [
    // The message is the bot's own; the person is who presses.
    "a press on Telegram",
    "telegram",
    { callback_query: { from: ADA, message: { chat: PRIVATE, from: { id: 1, is_bot: true } } } },
    { chat: "42", direct: true, sender: "42", group: "42", meta: ADA_META },
  ],
  [
    "a group that becomes a supergroup",
    "telegram",
    { message: { chat: { id: -7, type: "group" }, from: ADA, migrate_to_chat_id: -1001 } },
    {
      chat: "-7",
      direct: false,
      sender: "42",
      group: "-7",
      meta: ADA_META,
      move: { from: "-7", to: "-1001" },
    },
  ],
  [
    "a supergroup that was a group",
    "telegram",
    { message: { chat: GROUP, from: ADA, migrate_from_chat_id: -7 } },
    {
      chat: "-7",
      direct: false,
      sender: "42",
      group: "-7",
      meta: ADA_META,
      move: { from: "-7", to: "-1001" },
    },
  ],
  [
    "a command on a Discord server",
    "discord",
    command("hello"),
    {
      chat: "645027906669510667",
      direct: false,
      sender: MASON.id,
      group: "290926798626357999",
      meta: MASON_META,
    },
  ],
  [
    "a direct command on Discord",
    "discord",
    directCommand("hello"),
    {
      chat: "1094323234567890123",
      direct: true,
      sender: MASON.id,
      group: "1094323234567890123",
      meta: MASON_META,
    },
  ],
  [
    "a message on Discord",
    "discord",
    { t: "MESSAGE_CREATE", d: messageCreate({}, "server"), bot: "1" },
    {
      chat: "645027906669510667",
      direct: false,
      sender: MASON.id,
      group: "290926798626357999",
      meta: MASON_META,
    },
  ],
])("%s has its chat and its sender", (_, platform, payload, { chat, ...expected }: { chat?: string }) => {
  expect(placeOf({ platform, payload })).toEqual({ chat: { platform, chat }, meta: {}, ...expected });
});

test.each<[string, Platform, Record<string, unknown>]>([
  ["a bot on Slack", "slack", slackEvent("Ev1", { bot_id: "B1" })],
  ["a bot on Telegram", "telegram", { message: { chat: GROUP, from: { id: 1, is_bot: true } } }],
  ["a bot on Discord", "discord", { t: "x", d: messageCreate({ author: { ...MASON, bot: true } }) }],
])("%s is no sender", (_, platform, payload) => {
  expect(placeOf({ platform, payload })?.sender).toBeUndefined();
});

test.each<[string, Platform, Record<string, unknown>]>([
  ["an event of no channel", "slack", { event: { type: "team_join", user: { id: "U1" } } }],
  ["a post in a channel", "telegram", { channel_post: { chat: { id: -1, type: "channel" } } }],
  ["an inline query", "telegram", { inline_query: { from: ADA } }],
  ["an event of an unknown form", "telegram", { message: "hello" }],
  ["an interaction without a channel", "discord", { id: "1", type: 2 }],
])("%s has no place", (_, platform, payload) => {
  expect(placeOf({ platform, payload })).toBeUndefined();
});
