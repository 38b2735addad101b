import { expect, test } from "vitest";
import { checkConfig } from "../../../runtime/contract/config.ts";
import { directMessageAccess } from "../../../runtime/gateway/channels/access.ts";
import { readSlackEvent } from "../../../runtime/gateway/channels/slack/inbound.ts";
import { readSlackText } from "../../../runtime/gateway/channels/slack/text.ts";
import { delivery, directMessage } from "../support/gateway.ts";

/** Who may write under these keys of the channel; U3 is the one who was approved. */
function access(extra: object = {}) {
  const checked = checkConfig({ channels: { slack: { botToken: "x", signingSecret: "y", ...extra } } });
  if (!checked.ok || checked.config.channels.slack === undefined) throw new Error("not a config");
  return directMessageAccess(checked.config.channels.slack, { approved: () => ["U3"] });
}

const open = access({ dmPolicy: "open", allowFrom: ["*"] });
const mention = (event: object) => readSlackEvent(delivery("Ev1", { ...event }).payload, open);
const direct = (event: object, who = open) => readSlackEvent(directMessage("Ev1", { ...event }).payload, who);

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

test("in a channel nobody's standing in direct messages is asked for", () => {
  const asked: string[] = [];
  const event = readSlackEvent(delivery("Ev1").payload, (user) => {
    asked.push(user);
    return { allowed: false, reason: "unknown", answer: "pair" };
  });

  expect(event).toMatchObject({ kind: "message", sender: "U1" });
  expect(asked).toEqual([]);
});

test("a body of an unknown form is left alone", () => {
  expect(readSlackEvent({ type: "app_rate_limited" }, open)).toMatchObject({ kind: "ignored" });
});

test("files that came along are named", () => {
  expect(direct({ subtype: "file_share", text: "look", files: [{ name: "a.png" }, {}] })).toMatchObject({
    text: "look\n[attached file, not read: a.png]\n[attached file, not read: unnamed]",
  });
});

test.each([
  ["pairing, nobody known", {}, "U1", "unpaired"],
  ["pairing, approved", {}, "U3", "message"],
  ["pairing, on the list", { allowFrom: ["U1"] }, "U1", "message"],
  ["allowlist, on the list", { dmPolicy: "allowlist", allowFrom: ["U1"] }, "U1", "message"],
  ["allowlist, not on the list", { dmPolicy: "allowlist" }, "U1", "refused"],
  ["allowlist, only approved", { dmPolicy: "allowlist" }, "U3", "refused"],
  ["open", { dmPolicy: "open", allowFrom: ["*"] }, "U1", "message"],
  ["disabled, on the list", { dmPolicy: "disabled", allowFrom: ["U1"] }, "U1", "ignored"],
  ["disabled, approved", { dmPolicy: "disabled" }, "U3", "ignored"],
])("a direct message under %s", (_, keys, user, kind) => {
  expect(direct({ user }, access(keys))).toMatchObject({ kind });
});

test("Slack's escapes and references are written out", () => {
  const text = "a &lt;b&gt; &amp;amp; <https://x.example/a|a page> <https://y.example> <#C1|general> <!here>";
  expect(readSlackText(text)).toBe(
    "a <b> &amp; a page (https://x.example/a) https://y.example #general @here",
  );
});
