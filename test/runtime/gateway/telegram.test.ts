import { expect, test } from "vitest";
import { deliverySchema } from "../../../runtime/contract/delivery.ts";
import { telegramDelivery } from "../../../runtime/edge/admission/telegram.ts";
import { readTelegramUpdate } from "../../../runtime/gateway/channels/telegram/inbound.ts";
import {
  BOT,
  message,
  read,
  telegramAccess,
  update,
  SOMEBODY,
  UNMOVED,
  marked,
} from "../support/telegram.ts";
import { generator } from "../../support/random.ts";

const options = {
  access: telegramAccess({ dmPolicy: "open", allowFrom: ["*"] }),
  bot: BOT,
  moves: UNMOVED,
  mediaMaxBytes: 1,
};

test("a direct message is answered in its chat, under the sender's names", () => {
  expect(read({})).toEqual({
    kind: "message",
    direct: true,
    admission: { by: "everyone" },
    sender: { id: "123456789", name: "Ada", username: "ada" },
    text: "hello",
    message: "7",
    attachments: [],
    target: { chat: "123456789" },
  });
});

test.each([
  ["a file of an album", { media_group_id: "g1", photo: [{ file_id: "p1" }] }, "g1"],
  ["a text that the app may have cut", { text: "x".repeat(4_000) }, "text"],
  ["a text that it has not", { text: "x".repeat(3_999) }, undefined],
])("%s says whether more of it follows", (_, fields, continues) => {
  expect(read(fields)).toHaveProperty("kind", "message");
  expect(Object(read(fields)).continues).toBe(continues);
});

// https://core.telegram.org/bots/api#update
test("an edit is a new version of its message, of which nothing more follows", () => {
  const edit = (extra: object) =>
    readTelegramUpdate(update({ ...message(extra), edit_date: 1_795_000_001 }, "edited_message"), options);
  expect(edit({ text: "hello you" })).toEqual({ ...read({ text: "hello you" }), edited: true });
  const long = { text: "x".repeat(4_000) };
  expect([read(long), edit(long)].map((inbound) => Object(inbound).continues)).toEqual(["text", undefined]);
});

test.each([{}, { dmPolicy: "allowlist" }, { dmPolicy: "disabled" }])(
  "to an edit by somebody who may not write nothing is said: %j",
  (keys) => {
    const edit = update(message({ from: SOMEBODY }), "edited_message");
    expect(readTelegramUpdate(edit, { ...options, access: telegramAccess(keys) })).toMatchObject({
      kind: "ignored",
      note: expect.stringMatching(/^edit: |^direct/),
    });
  },
);

// One update of every kind that Telegram may deliver and that is no message.
test.each([
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
  ["a search", update({ id: "1", query: "x" }, "inline_query"), "inline_query"],
  ["nothing", { update_id: 1 }, "nothing"],
])("%s is left alone, with the reason", (_, body, what) => {
  expect(readTelegramUpdate(body, options)).toEqual({ kind: "ignored", note: `not a message: ${what}` });
});

test("a body of an unknown form is left alone", () => {
  for (const body of [{}, { update_id: 1, message: { text: 5 } }, { update_id: 1, message: { chat: 1 } }])
    expect(readTelegramUpdate(body, options)).toEqual({
      kind: "ignored",
      note: "not an update of a known form",
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
