import { expect, test } from "vitest";
import { checkConfig } from "../../../runtime/contract/config/index.ts";
import { channelAccess } from "../../../runtime/shared/channel-access.ts";
import { readSlackEvent } from "../../../runtime/gateway/channels/slack/inbound.ts";
import { readSlackText } from "../../../runtime/gateway/channels/slack/mrkdwn.ts";
import { delivery, directMessage } from "../support/gateway.ts";

/** Who may write under these keys of the channel; U3 is the one who was approved. */
function access(extra: object = {}) {
  const checked = checkConfig({ channels: { slack: { botToken: "x", signingSecret: "y", ...extra } } });
  if (!checked.ok || checked.config.channels.slack === undefined) throw new Error("not a config");
  const { slack } = checked.config.channels;
  return channelAccess(
    { ...slack, groups: slack.channels, operators: [] },
    { granted: (id) => (id === "U3" ? "person" : undefined) },
  );
}

const open = access({ dmPolicy: "open", allowFrom: ["*"] });
const mention = (event: object) => readSlackEvent(delivery("Ev1", { ...event }).payload, open);
const direct = (event: object, who = open) => readSlackEvent(directMessage("Ev1", { ...event }).payload, who);

test("a mention starts a thread, or stays in the one it came from", () => {
  expect(mention({ text: "<@UBOT> what is <@U2> doing?" })).toEqual({
    kind: "message",
    direct: false,
    admission: { by: "group", sendElsewhere: [] },
    sender: { id: "U1" },
    text: "what is <@U2> doing?",
    attachments: [],
    target: { chat: "C1", thread: "100.1" },
    message: "100.1",
  });
  expect(mention({ thread_ts: "99.9" })).toMatchObject({ target: { chat: "C1", thread: "99.9" } });
});

test("a direct message is answered in line, in a thread only if it came from one", () => {
  expect(direct({})).toMatchObject({ kind: "message", target: { chat: "D1" } });
  expect(direct({})).not.toHaveProperty("target.thread");
  expect(direct({ thread_ts: "99.9" })).toMatchObject({ target: { chat: "D1", thread: "99.9" } });
});

test("what /me says is a message", () => {
  expect(direct({ subtype: "me_message", text: "wonders" })).toMatchObject({
    kind: "message",
    text: "wonders",
  });
});

const SHARED = {
  is_share: true,
  is_msg_unfurl: true,
  channel_id: "C9",
  ts: "1.2",
  author_id: "U7",
  author_name: "Bo",
  text: "We move the launch to <#C1|14 May>",
  fallback: "[1 May] Bo: We move",
};
const REFERENCE = {
  kind: "forward",
  author: { id: "U7", name: "Bo" },
  text: "We move the launch to #14 May",
  attachments: [],
};

// As https://docs.slack.dev/messaging/ sends what "Share message" makes.
test("a shared message comes with the words, and without words, too", () => {
  expect(direct({ text: "What do you think?", attachments: [SHARED] })).toMatchObject({
    text: "What do you think?",
    references: [REFERENCE],
  });
  expect(direct({ text: "", attachments: [SHARED] })).toMatchObject({
    kind: "message",
    text: "",
    references: [REFERENCE],
  });
  const picture = {
    ...SHARED,
    text: "",
    fallback: "",
    files: [{ id: "F1", name: "a.png", mimetype: "image/png" }],
  };
  expect(direct({ text: "", attachments: [picture] })).toMatchObject({
    references: [{ text: "", attachments: [{ kind: "image", reference: "F1" }] }],
  });
  const blocks = {
    ...SHARED,
    text: "",
    message_blocks: [{ message: { blocks: [{ type: "section", text: "Now" }] } }],
  };
  expect(direct({ text: "", attachments: [blocks] })).toMatchObject({ references: [{ text: "Now" }] });
});

test("previews of links are no shared messages", () => {
  const preview = {
    service_name: "Example",
    title: "A page",
    text: "Its beginning",
    from_url: "https://x.example",
  };
  expect(direct({ text: "https://x.example", attachments: [preview] })).not.toHaveProperty("references");
});

test("a part of an unexpected form is left out, and the words are read", () => {
  const odd = { files: 7, attachments: [{ is_share: true, files: "x" }], blocks: "y", thread_ts: null };
  expect(direct({ text: "And this?", ...odd })).toMatchObject({ kind: "message", text: "And this?" });
});

test("the beginning of a snippet is told with the words; one that is whole is no file beside them", () => {
  const snippet = {
    id: "F1",
    name: "err.log",
    mimetype: "text/plain",
    mode: "snippet",
    preview: "TypeError: x",
  };
  const sent = (more: object) =>
    direct({ subtype: "file_share", text: "why?", files: [{ ...snippet, ...more }] });
  expect(sent({ preview_is_truncated: false })).toMatchObject({
    text: "why?\n[snippet: err.log]\nTypeError: x",
    attachments: [],
  });
  expect(sent({ preview_is_truncated: true })).toMatchObject({
    text: "why?\n[snippet: err.log, its beginning]\nTypeError: x",
    attachments: [{ reference: "F1" }],
  });
});

const MENTION_TWICE = "a mention, which Slack sends as a separate event";

test.each([
  ["an edit of nothing", { subtype: "message_changed" }, "subtype message_changed"],
  ["a deletion of nothing", { subtype: "message_deleted" }, "subtype message_deleted"],
  ["a join", { subtype: "channel_join" }, "subtype channel_join"],
  ["another bot", { bot_id: "B2", user: "U9" }, "written by a bot"],
  ["itself", { user: "UBOT" }, "written by a bot"],
  ["nothing said", { text: "<@UBOT>  " }, "no text"],
  ["nobody", { user: undefined }, "no sender"],
  ["a reaction", { type: "reaction_added" }, "neither message nor mention: reaction_added"],
  ["a channel's mention as a message", { channel_type: "channel", text: "hi <@UBOT>" }, MENTION_TWICE],
  ["a message of an unknown place", { channel_type: "app_home" }, "neither message nor mention: message"],
])("%s is left alone, with the reason", (_, event, note) => {
  expect(direct(event)).toEqual({ kind: "ignored", note });
});

const changed = (message: object, more: object = {}) => ({
  type: "message",
  subtype: "message_changed",
  text: undefined,
  ts: "200.1",
  message: { type: "message", user: "U1", ts: "100.1", edited: { user: "U1", ts: "200.1" }, ...message },
  ...more,
});

// https://docs.slack.dev/reference/events/message/message_changed
test("an edit is a new version of its message, in that message's place", () => {
  expect(direct(changed({ text: "hello you" }))).toMatchObject({
    kind: "message",
    edited: true,
    text: "hello you",
    message: "100.1",
    sender: { id: "U1" },
    target: { chat: "D1" },
  });
  // Slack does not always tell the kind of the channel.
  expect(direct(changed({ text: "hi", thread_ts: "99.9" }, { channel_type: undefined }))).toMatchObject({
    direct: true,
    target: { chat: "D1", thread: "99.9" },
  });
  expect(direct(changed({ text: "x" }, inChannel({ channel_type: undefined })))).toMatchObject({
    kind: "context",
    edited: true,
    target: { thread: "100.1" },
  });
});

// As https://github.com/slack-go/slack/pull/1256 shows it.
test("a mention that comes with an edit is one, too", () => {
  const edited = { user: "U1", ts: "200.1" };
  expect(mention({ text: "<@UBOT> hi", edited })).toMatchObject({
    kind: "message",
    edited: true,
    text: "hi",
  });
  expect(mention({ text: "<@UBOT> hi", edited: null })).not.toHaveProperty("edited");
});

test("a deletion names its message, also where replies keep it as a tombstone", () => {
  const gone = { kind: "deleted", target: { chat: "D1" }, message: "100.1" };
  expect(direct({ subtype: "message_deleted", ts: "200.1", deleted_ts: "100.1" })).toEqual(gone);
  expect(direct(changed({ subtype: "tombstone", text: "This message was deleted." }))).toEqual(gone);
});

test("to an edit by somebody who may not write nothing is said", () => {
  for (const keys of [{}, { dmPolicy: "allowlist" }, { dmPolicy: "disabled" }])
    expect(direct(changed({ text: "hi" }), access(keys))).toMatchObject({ kind: "ignored" });
});

test("in a channel nobody's standing in direct messages is asked for", () => {
  const asked: string[] = [];
  const event = readSlackEvent(delivery("Ev1").payload, {
    ...open,
    direct: (user) => {
      asked.push(user);
      return { allowed: false, reason: "unknown", answer: "pair" };
    },
  });

  expect(event).toMatchObject({ kind: "message", sender: { id: "U1" } });
  expect(asked).toEqual([]);
});

test("a body of an unknown form is left alone", () => {
  expect(readSlackEvent({ type: "app_rate_limited" }, open)).toMatchObject({ kind: "ignored" });
});

test("files that came along are attachments, also without a word", () => {
  // https://docs.slack.dev/reference/objects/file-object
  const file = {
    id: "F0S43P1CZ",
    created: 1531763254,
    name: "billair.gif",
    mimetype: "image/gif",
    filetype: "gif",
    mode: "hosted",
    size: 144538,
    url_private: "https://files.slack.com/files-pri/T1-F0S43P1CZ/billair.gif",
    url_private_download: "https://files.slack.com/files-pri/T1-F0S43P1CZ/download/billair.gif",
  };
  const deleted = { id: "F2", mode: "tombstone" };
  const foreign = { id: "F3", file_access: "check_file_info" };
  expect(direct({ subtype: "file_share", text: "", files: [file, deleted, foreign] })).toMatchObject({
    kind: "message",
    text: "",
    attachments: [
      {
        kind: "image",
        name: "billair.gif",
        mediaType: "image/gif",
        sizeBytes: 144538,
        reference: "F0S43P1CZ",
      },
      { kind: "file", reference: "F3" },
    ],
  });
});

const LISTED = { groupPolicy: "allowlist", channels: { C1: {} } };
const ALL = { channels: { C1: { requireMention: false } } };
const inChannel = (event: object) => ({ type: "message", channel: "C1", channel_type: "channel", ...event });
const THREAD = { thread_ts: "99.9", parent_user_id: "UBOT" };

test.each([
  ["a mention", {}, {}, "message"],
  ["a mention, groups disabled", {}, { groupPolicy: "disabled" }, "ignored"],
  ["a mention in a channel on the list", {}, LISTED, "message"],
  ["a mention in a channel not on the list", { channel: "C2" }, LISTED, "ignored"],
  ["a mention in a channel that is switched off", {}, { channels: { C1: { enabled: false } } }, "ignored"],
  ["a mention by somebody not on the list", {}, { groupAllowFrom: ["U2"] }, "ignored"],
  ["a mention by somebody on the list", {}, { groupAllowFrom: ["U1"] }, "message"],
  ["a channel's message", inChannel({ text: "hi" }), {}, "context"],
  ["a private channel's message", inChannel({ text: "hi", channel_type: "group" }), {}, "context"],
  ["a group message", inChannel({ text: "hi", channel_type: "mpim" }), {}, "context"],
  ["a reply to the bot's own message", inChannel({ text: "hi", ...THREAD }), {}, "message"],
  ["a reply to a person", inChannel({ text: "hi", ...THREAD, parent_user_id: "U2" }), {}, "context"],
  ["a channel that needs no mention", inChannel({ text: "hi" }), ALL, "message"],
  ["another channel", inChannel({ text: "hi", channel: "C2" }), ALL, "context"],
  ["a message where groups are disabled", inChannel({ text: "hi" }), { groupPolicy: "disabled" }, "ignored"],
])("in groups: %s", (_, event, keys, kind) => {
  expect(readSlackEvent(delivery("Ev1", event).payload, access(keys))).toMatchObject({ kind });
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
