import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkConfig, type Config } from "../../../runtime/contract/config/index.ts";
import type { Platform } from "../../../runtime/contract/delivery.ts";
import { MAX_REPLAYED } from "../../../runtime/contract/environment.ts";
import { LONGEST_REPLAYED, replayRecordSchema } from "../../../runtime/contract/replay.ts";
import { replay } from "../../../runtime/gateway/replay/read.ts";
import { createRedaction } from "../../../runtime/gateway/replay/redact.ts";
import { createReplayRecord } from "../../../runtime/gateway/replay/record.ts";
import { bodyOf, DISCORD, SLACK, TELEGRAM } from "../support/message-kinds.ts";
import { BOT } from "../support/telegram.ts";

type Body = Record<string, unknown>;

const OPEN = { dmPolicy: "open", allowFrom: ["*"], groupPolicy: "open" };
const LISTED = {
  telegram: { allowFrom: ["123456789"], groupPolicy: "allowlist", groups: { "-1001234567890": {} } },
  slack: { allowFrom: ["U1", "U0LISTED1"], groupPolicy: "allowlist", channels: { C1: {}, C0LISTED1: {} } },
  discord: { allowFrom: ["53908232506183680"], groupPolicy: "allowlist" },
};

function configOf(telegram: object, slack: object, discord: object): Config {
  const checked = checkConfig({
    channels: {
      telegram: { botToken: "1:x", ...telegram },
      slack: { botToken: "x", signingSecret: "y", ...slack },
      discord: { token: "x", ...discord },
    },
  });
  if (!checked.ok) throw new Error("not a config");
  return checked.config;
}

const EVERYONE = configOf({ ...OPEN, groups: { "*": { requireMention: false } } }, OPEN, OPEN);
const FEW = configOf(LISTED.telegram, LISTED.slack, LISTED.discord);

const samples = (
  [
    ["telegram", TELEGRAM],
    ["slack", SLACK],
    ["discord", DISCORD],
  ] as const
).flatMap(([platform, kinds]) =>
  Object.entries(kinds).map(([kind, { payload, place }]) => ({
    platform,
    kind,
    payload,
    body: bodyOf[platform](payload, place),
  })),
);

/** A record of these events, in their order. */
function record(events: readonly { platform: Platform; body: Body }[], config = EVERYONE, key = "key") {
  const deliveries = events.map(({ platform, body: payload }, at) => ({
    id: `e${at}`,
    platform,
    conversation: "c",
    receivedAt: 1,
    payload,
  }));
  let time = 0;
  return createReplayRecord(deliveries, {
    config,
    channels: {
      get: (platform) => ({ mediaMaxBytes: 5_000_000, ...(platform === "telegram" && { bot: BOT }) }),
    },
    pairing: () => ({ approved: () => ["555", "U0APPROVED"], operators: () => [] }),
    moves: { all: () => ({ "-1001234567890": "-987654321" }) },
    key: Buffer.from(key),
    now: () => (time += 1),
  });
}

describe.each([
  ["everyone is admitted", EVERYONE],
  ["a few are admitted", FEW],
])("where %s", (_, config) => {
  test.each(samples)("$platform: $kind is read alike after it was redacted", async ({ platform, body }) => {
    const { left, events } = await record([{ platform, body }], config);
    expect({ left, events: events.length }).toEqual({
      left: { tooLarge: 0, unread: 0, changed: 0 },
      events: 1,
    });
  });
});

test("an id that is listed, a mention and a reply to the bot stay what they are", async () => {
  const said = { channel: "C0LISTED1", channel_type: "channel", user: "U0MEMBER9", ts: "1.1" };
  const slack = (event: object): { platform: Platform; body: Body } => ({
    platform: "slack",
    body: {
      type: "event_callback",
      authorizations: [{ user_id: "U0BOT0000", is_bot: true }],
      event: { type: "message", ...said, ...event },
    },
  });
  const { events } = await record(
    [
      slack({ type: "app_mention", text: "<@U0BOT0000> what is new?" }),
      slack({ text: "fine", thread_ts: "1.0", parent_user_id: "U0BOT0000" }),
      slack({ text: "fine" }),
      slack({ channel: "D0DIRECT1", channel_type: "im", user: "U0LISTED1", text: "/status now" }),
      slack({ channel: "D0DIRECT1", channel_type: "im", user: "U0APPROVED", text: "hello" }),
      slack({ channel: "D0DIRECT1", channel_type: "im", user: "U0STRANGE", text: "hello" }),
      slack({ type: "app_mention", channel: "C0FOREIGN", text: "<@U0BOT0000> hello" }),
    ],
    FEW,
  );
  expect(events.map(({ outcome: { kind, admitted } }) => [kind, admitted])).toEqual([
    ["message", "group"],
    ["message", "group"],
    ["context", "group"],
    ["command", "config person"],
    ["message", "approval person"],
    ["unpaired", undefined],
    ["ignored", undefined],
  ]);
});

test("an event whose redaction would be read otherwise is left out, and counted", async () => {
  // With ids of two characters, pseudonyms of strangers coincide with those of the listed.
  const users = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", (character) => `U${character}`);
  const listed = users.slice(0, 12);
  const config = configOf({}, { allowFrom: listed }, {});
  const { events, left } = await record(
    users.map((user) => ({ platform: "slack", body: bodyOf.slack({ user }) })),
    config,
  );
  expect(left.changed).toBeGreaterThan(0);
  expect(events.length + left.changed).toBe(users.length);
  expect(events.filter(({ outcome }) => outcome.kind === "message")).toHaveLength(listed.length);
  expect(events.filter(({ outcome }) => outcome.kind === "unpaired").length).toBe(
    users.length - listed.length - left.changed,
  );
});

/** A word that no platform, no command and no pseudonym has by chance. */
const word = fc.stringMatching(/^[b-wyzéßλж][a-wyzA-WYZéßλж]{9,14}$/u);

/** Fields of the platforms' own words. */
const PROTOCOL = /^(?:type|subtype|channel_type|mode|t)$/;

/** Adds a word to every text of a payload except the protocol's own. */
const withWords = (value: unknown, take: () => string, field = ""): unknown => {
  if (typeof value === "string") return PROTOCOL.test(field) ? value : `${value} ${take()}`;
  if (Array.isArray(value)) return value.map((item) => withWords(item, take, field));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withWords(item, take, key)]));
};

test("no word, name, number or token of an event is left after redaction", () => {
  const redaction = createRedaction(Buffer.from("key"));
  fc.assert(
    fc.property(
      fc.constantFrom(...samples),
      fc.array(word, { minLength: 12, maxLength: 12 }),
      fc.jsonValue({ maxDepth: 3 }),
      fc.integer({ min: 10_000_000, max: Number.MAX_SAFE_INTEGER }),
      ({ platform, body }, words, odd, number) => {
        const [text = "", name = "", key = "", type = "", ...others] = words;
        let next = 0;
        const take = () => others[(next += 1) % others.length] ?? "";
        const payload = {
          ...(withWords(body, take) as Body),
          zz_text: `${text} 💡 ${text.toUpperCase()}9 @${name} /${key} https://${name}.example/?${key}=${number}`,
          zz_user: { first_name: name, id: number, phone_number: `+${number}`, [`${key} key`]: [name, odd] },
          mimetype: `image/${type}`,
          content_type: type,
          zz_kind: { type: `${type} of mine`, subtype: `${name}?` },
        };
        const shown = JSON.stringify(redaction.payload(platform, payload));
        const all = [text, name, key, type, ...others.slice(0, next)];
        const found = [...all, ...all.map((one) => one.toUpperCase()), String(number)].filter((one) =>
          shown.includes(one),
        );
        expect(found).toEqual([]);
      },
    ),
    { numRuns: 1_000 },
  );
});

test("what nests deeper than channels read ends the redaction, not the process", () => {
  const deep = JSON.parse(`{"text":${"[".repeat(20_000)}"word"${"]".repeat(20_000)}}`) as Body;
  const redacted = createRedaction(Buffer.from("key")).payload("slack", deep);
  expect(JSON.stringify(redacted)).toMatch(/^\{"text":\[{64}null\]{64}\}$/);
});

test("pseudonyms are equal within a record and differ between two", async () => {
  const [one, other] = samples.filter(({ platform }) => platform === "slack");
  const events = [one, other, one].flatMap((sample) => sample ?? []);
  const first = await record(events);
  const second = await record(events, EVERYONE, "another");
  expect(first.events[0]?.payload).toEqual(first.events[2]?.payload);
  expect(first.events[0]?.payload["event"]).toMatchObject({ text: "xxxxx" });
  expect(second.events[0]?.payload).not.toEqual(first.events[0]?.payload);
});

test("events that are too large, too many or of no channel are left out and counted", async () => {
  const long = {
    platform: "slack",
    body: bodyOf.slack({ text: "x ".repeat(LONGEST_REPLAYED / 2) }),
  } as const;
  const short = { platform: "slack", body: bodyOf.slack({ text: "hello" }) } as const;
  const off = configOf({}, OPEN, { enabled: false });
  const strange = { platform: "elsewhere" as Platform, body: {} };
  const made = await record(
    [long, short, strange, ...Array.from({ length: MAX_REPLAYED }, () => short)],
    off,
  );
  expect(made.left).toEqual({ tooLarge: 1, unread: 1, changed: 0 });
  expect(made.events).toHaveLength(MAX_REPLAYED - 2);
});

test("the same version makes the same of a record that has passed as JSON, and takes as long", async () => {
  const made = await record(samples);
  const passed = replayRecordSchema.parse(JSON.parse(JSON.stringify(made)));
  let time = 0;
  const replayed = replay(passed, () => (time += 1));
  expect(replayed.outcomes).toEqual(made.events.map(({ outcome }) => outcome));
  expect(replayed.cost).toBe(made.cost);
});

test("an event that a version cannot read is an error, and the others are read", async () => {
  const made = await record(samples.filter(({ platform }) => platform !== "discord"));
  const without = { ...made, readings: { slack: made.readings.slack } };
  const kinds = replay(without, () => 0).outcomes.map(({ kind }) => kind);
  const isError = made.events.map(({ platform }) => platform === "telegram");
  expect(kinds.map((kind) => kind === "error")).toEqual(isError);
});

test("a record whose words could be markup is refused", async () => {
  const made = await record(samples.slice(0, 1));
  const [event] = made.events;
  for (const kind of ["", "a|b", "<b>", "\u001b[2J", "x".repeat(41)]) {
    const events = [{ ...event, outcome: { kind } }];
    expect(replayRecordSchema.safeParse({ ...made, events }).success).toBe(false);
  }
});
