import { expect, test } from "vitest";
import { checkConfig } from "../../../runtime/contract/config.ts";
import { readSlackEvent } from "../../../runtime/gateway/channels/slack/inbound.ts";
import { readSlackText } from "../../../runtime/gateway/channels/slack/text.ts";
import { delivery, directMessage } from "../support/gateway.ts";

function slackConfig(extra: object = {}) {
  const checked = checkConfig({ channels: { slack: { botToken: "x", signingSecret: "y", ...extra } } });
  if (!checked.ok || checked.config.channels.slack === undefined) throw new Error("not a config");
  return checked.config.channels.slack;
}

const open = slackConfig({ dmPolicy: "open", allowFrom: ["*"] });
const mention = (event: object) => readSlackEvent(delivery("Ev1", { ...event }).payload, open);
const direct = (event: object, config = open) =>
  readSlackEvent(directMessage("Ev1", { ...event }).payload, config);

test("a mention starts a thread, or stays in the one it came from", () => {
  expect(mention({ text: "<@UBOT> what is <@U2> doing?" })).toEqual({
    kind: "message",
    conversation: "slack:T1:C1",
    sender: "U1",
    text: "what is <@U2> doing?",
    target: { chat: "C1", thread: "100.1" },
  });
  expect(mention({ thread_ts: "99.9" })).toMatchObject({ target: { chat: "C1", thread: "99.9" } });
});

test("a direct message is answered in line, in a thread only if it came from one", () => {
  expect(direct({})).toMatchObject({ kind: "message", conversation: "slack:T1:D1", target: { chat: "D1" } });
  expect(direct({})).not.toHaveProperty("target.thread");
  expect(direct({ thread_ts: "99.9" })).toMatchObject({ target: { chat: "D1", thread: "99.9" } });
});

test.each([
  ["an edit", { subtype: "message_changed" }, "subtype message_changed"],
  ["a deletion", { subtype: "message_deleted" }, "subtype message_deleted"],
  ["a join", { subtype: "channel_join" }, "subtype channel_join"],
  ["another bot", { bot_id: "B2", user: "U9" }, "written by a bot"],
  ["itself", { user: "UBOT" }, "written by a bot"],
  ["nothing said", { text: "<@UBOT>  " }, "no text"],
  ["nobody", { user: undefined }, "no sender"],
  ["a reaction", { type: "reaction_added" }, "neither direct message nor mention: reaction_added"],
  ["a channel's message", { channel_type: "channel" }, "neither direct message nor mention: message"],
])("%s is left alone, with the reason", (_, event, note) => {
  expect(direct(event)).toEqual({ kind: "ignored", note });
});

test("a body of an unknown form is left alone", () => {
  expect(readSlackEvent({ type: "app_rate_limited" }, open)).toMatchObject({ kind: "ignored" });
});

test("files that came along are named", () => {
  expect(direct({ subtype: "file_share", text: "look", files: [{ name: "a.png" }, {}] })).toMatchObject({
    text: "look\n[attached file, not read: a.png]\n[attached file, not read: unnamed]",
  });
});

test("direct messages follow the policy, and whoever is not named is refused", () => {
  expect(direct({}, slackConfig({ allowFrom: ["U1"] }))).toMatchObject({ kind: "message" });
  expect(direct({}, slackConfig())).toMatchObject({ kind: "refused", note: "the sender is not on the list" });
  expect(direct({}, slackConfig({ dmPolicy: "disabled", allowFrom: ["U1"] }))).toEqual({
    kind: "ignored",
    note: "direct messages are disabled",
  });
});

test("Slack's escapes and references are written out", () => {
  const text = "a &lt;b&gt; &amp;amp; <https://x.example/a|a page> <https://y.example> <#C1|general> <!here>";
  expect(readSlackText(text)).toBe(
    "a <b> &amp; a page (https://x.example/a) https://y.example #general @here",
  );
});
