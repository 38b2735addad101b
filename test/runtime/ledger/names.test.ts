import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import type { Platform } from "../../../runtime/contract/delivery.ts";
import { NameStore } from "../../../runtime/edge/ledger/names.ts";
import { excerptOf, peopleOf } from "../../../runtime/edge/ledger/people.ts";
import { displayName, hueOf } from "../../../runtime/shared/display-name.ts";
import { slackEvent } from "../../support/edge.ts";
import { HOUR, LedgerStage } from "../support/ledger.ts";

let stage: LedgerStage;
let store: NameStore;
beforeEach(() => {
  stage = new LedgerStage();
  store = new NameStore(stage.sql);
});
afterEach(() => stage.close());

const person = (key: string, name?: string) => ({ key, kind: "person" as const, name });
const named = (key: string) => store.names([key]).get(key);

describe("display names", () => {
  it.each([
    ["Ada\u0000\n Lovelace", "Ada Lovelace"],
    ["\u202Eevil\u2066", "evil"],
    ["👩‍👩‍👧 Familie", "👩‍👩‍👧 Familie"],
    ["<script>alert(1)</script>", "<script>alert(1)</script>"],
    ["مرحبا", "مرحبا"],
    ["x".repeat(300), "x".repeat(200)],
    [`${"x".repeat(199)}😀`, `${"x".repeat(199)}\uFFFD`],
    [" \u200D\u200B\u0301", undefined],
    ["", undefined],
    [7, undefined],
  ])("makes one visible line of %j", (given, expected) => {
    expect(displayName(given)).toBe(expected);
  });

  it("gives each id one of twelve hues, always the same", () => {
    const hues = Array.from({ length: 300 }, (_, index) => hueOf(`slack:U${index}`));
    expect(new Set(hues).size).toBe(12);
    expect(hues.every((hue) => hue % 30 === 0 && hue < 360)).toBe(true);
    expect(hueOf("slack:U7")).toBe(hues[7]);
  });
});

const ADA = { id: 42, is_bot: false, first_name: "Ada", last_name: "Lovelace", username: "ada" };
const GROUP = { id: -100, type: "supergroup", title: "Engines" };
const MASON = { id: "53908232506183680", username: "mason", global_name: "Mason" };
const COMMAND = {
  id: "1",
  type: 2,
  channel_id: "645",
  channel: { id: "645", name: "general" },
  guild_id: "290",
};

test.each<[string, Platform, Record<string, unknown>, object]>([
  [
    "a direct message on Telegram",
    "telegram",
    { message: { chat: { id: 42, type: "private", first_name: "Ada" }, from: ADA } },
    {
      sender: "telegram:42",
      place: "telegram:42",
      sightings: [{ key: "telegram:42", kind: "person", name: "Ada Lovelace" }],
    },
  ],
  [
    "a press in a group on Telegram",
    "telegram",
    { callback_query: { from: { id: 43, username: "eve" }, message: { chat: GROUP, from: ADA } } },
    {
      sender: "telegram:43",
      place: "telegram:-100",
      sightings: [
        { key: "telegram:43", kind: "person", name: "eve" },
        { key: "telegram:-100", kind: "group", name: "Engines" },
      ],
    },
  ],
  [
    "a message on Slack, which names nobody",
    "slack",
    slackEvent(),
    {
      sender: "slack:U1",
      place: "slack:C1",
      sightings: [
        { key: "slack:U1", kind: "person", name: undefined },
        { key: "slack:C1", kind: "channel", name: undefined },
      ],
    },
  ],
  [
    "a direct message on Slack with a profile",
    "slack",
    slackEvent("Ev1", {
      type: "message",
      channel: "D1",
      channel_type: "im",
      user_profile: { display_name: "", real_name: "Ada" },
    }),
    {
      sender: "slack:U1",
      place: "slack:D1",
      sightings: [
        { key: "slack:U1", kind: "person", name: "Ada" },
        { key: "slack:D1", kind: "person", personOf: "slack:U1" },
      ],
    },
  ],
  [
    "a command on a server of Discord",
    "discord",
    { ...COMMAND, member: { nick: "Stone", user: MASON } },
    {
      sender: `discord:${MASON.id}`,
      place: "discord:645",
      sightings: [
        { key: `discord:${MASON.id}`, kind: "person", name: "Stone" },
        { key: "discord:645", kind: "channel", name: "general" },
        { key: "discord:290", kind: "group" },
      ],
    },
  ],
  [
    "a direct message on Discord",
    "discord",
    { t: "MESSAGE_CREATE", d: { channel_id: "9", author: MASON } },
    {
      sender: `discord:${MASON.id}`,
      place: "discord:9",
      sightings: [
        { key: `discord:${MASON.id}`, kind: "person", name: "Mason" },
        { key: "discord:9", kind: "person", personOf: `discord:${MASON.id}` },
      ],
    },
  ],
  ["an event of no chat", "telegram", { inline_query: { from: ADA } }, { sightings: [] }],
  ["an event of an unknown form", "discord", { channel_id: 7, member: "x" }, { sightings: [] }],
])("%s has its people", (_, platform, payload, expected) => {
  expect(peopleOf({ platform, payload })).toEqual(expected);
});

test.each<[string, Platform, Record<string, unknown>, string | undefined]>([
  ["a text", "telegram", { message: { text: "hello\n  there" } }, "hello there"],
  ["a caption", "telegram", { edited_message: { caption: "my cat" } }, "my cat"],
  ["a picture", "telegram", { message: { photo: [] } }, undefined],
  ["a mention", "slack", slackEvent(), "hello"],
  ["an edit", "slack", { event: { text: "old", message: { text: "new" } } }, "new"],
  ["a command", "discord", { data: { name: "ask", options: [{ name: "question", value: "why?" }] } }, "why?"],
  ["a command without options", "discord", { data: { name: "help" } }, "help"],
  ["a message", "discord", { t: "MESSAGE_CREATE", d: { content: "hi" } }, "hi"],
  ["a long text", "telegram", { message: { text: "x".repeat(500) } }, `${"x".repeat(139)}…`],
])("the excerpt of %s", (_, platform, payload, expected) => {
  expect(excerptOf({ platform, payload })).toBe(expected);
});

describe("the names", () => {
  it("follow a rename, and keep when somebody was first and last seen", () => {
    store.record([person("telegram:42", "Ada")], stage.now);
    store.record([person("telegram:42")], stage.now + 1);
    expect(named("telegram:42")).toMatchObject({ name: "Ada", platform: "telegram", id: "42" });
    store.record([person("telegram:42", "Ada King")], stage.now + HOUR);
    expect(named("telegram:42")).toEqual({
      key: "telegram:42",
      kind: "person",
      platform: "telegram",
      id: "42",
      name: "Ada King",
      hue: hueOf("telegram:42"),
      firstSeenAt: new Date(stage.now).toISOString(),
      lastSeenAt: new Date(stage.now + HOUR).toISOString(),
    });
  });

  it("know a direct chat by its person, whose renames it follows", () => {
    store.record(
      [person("slack:U1", "Ada"), { key: "slack:D1", kind: "person", personOf: "slack:U1" }],
      stage.now,
    );
    store.record([person("slack:U1", "Ada King")], stage.now);
    expect(named("slack:D1")).toMatchObject({ key: "slack:U1", name: "Ada King" });
    expect(store.entries({ limit: 9 }).entries.map(({ key }) => key)).toEqual(["slack:U1"]);
  });

  it("are listed by kind, platform, name and id, in pages, the last seen first", () => {
    for (const [index, name] of ["Ada", "Özge", "Eve"].entries())
      store.record([person(`slack:U${index}`, name)], stage.now + index);
    store.record([{ key: "telegram:-100", kind: "group", name: "Ada's" }], stage.now + 3);
    const list = (query: object) => store.entries({ limit: 9, ...query }).entries.map(({ key }) => key);
    expect(list({})).toEqual(["telegram:-100", "slack:U2", "slack:U1", "slack:U0"]);
    expect(list({ q: "ADA" })).toEqual(["telegram:-100", "slack:U0"]);
    expect(list({ q: "özGE" })).toEqual(["slack:U1"]);
    expect(list({ q: "-100" })).toEqual(["telegram:-100"]);
    expect(list({ kind: "person", platform: "slack", q: "e" })).toEqual(["slack:U2", "slack:U1"]);
    expect(list({ platform: "web" })).toEqual([]);
    const first = store.entries({ limit: 3 });
    expect(first.entries).toHaveLength(3);
    expect(list({ before: first.next })).toEqual(["slack:U0"]);
    expect(store.entries({ limit: 4 })).not.toHaveProperty("next");
    expect(list({ before: "nonsense" })).toHaveLength(4);
  });

  it("are listed as chats that can be written to: direct chats by their people", () => {
    store.record(
      [
        person("slack:U1", "Ada"),
        { key: "slack:D1", kind: "person", personOf: "slack:U1" },
        { key: "slack:C1", kind: "channel", name: "general" },
        { key: "discord:9", kind: "group", name: "A server" },
        person("discord:8", "Eve"),
        person("telegram:42", "Bob"),
        { key: "web:1", kind: "browser", name: "A browser" },
      ],
      stage.now,
    );
    const { entries } = store.entries({ isChat: true, limit: 9 });
    expect(entries.map(({ key, name }) => [key, name])).toEqual([
      ["telegram:42", "Bob"],
      ["slack:D1", "Ada"],
      ["slack:C1", "general"],
    ]);
  });

  it("are asked for once a day, and again an hour after a failure", () => {
    store.record([person("slack:U1"), person("slack:U2"), person("telegram:42", "Ada")], stage.now);
    const keys = ["slack:U1", "slack:U2", "slack:U9", "telegram:42"];
    const wanted = (after: number) => store.dueKeys(keys, stage.now + after).map(({ key }) => key);
    expect(wanted(0)).toEqual(["slack:U1", "slack:U2"]);
    store.storeFound(
      [{ key: "slack:U1", name: "Ada\n" }, { key: "slack:U2" }, { key: "slack:U9", name: "x" }],
      stage.now,
    );
    expect(named("slack:U1")).toMatchObject({ name: "Ada" });
    expect(named("slack:U9")).toBeUndefined();
    expect(wanted(HOUR - 1)).toEqual([]);
    expect(wanted(HOUR)).toEqual(["slack:U2"]);
    expect(wanted(24 * HOUR)).toEqual(keys.filter((key) => key !== "slack:U9"));
    store.storeFound([{ key: "slack:U1" }], stage.now);
    expect(named("slack:U1")).toMatchObject({ name: "Ada" });
  });

  it("are at most some thousands: the least recently seen are dropped", () => {
    stage.sql.transaction(() => {
      for (let index = 0; index < 5_010; index += 1)
        store.record([person(`slack:U${index}`, `Person ${index}`)], stage.now + index);
    });
    expect(stage.sql.all("SELECT count(*) AS n FROM ledger_names")).toEqual([{ n: 5_000 }]);
    expect([named("slack:U9"), named("slack:U10")?.name]).toEqual([undefined, "Person 10"]);
    // Another object's store counts what is there.
    new NameStore(stage.sql).record([person("slack:Ux")], stage.now + 6_000);
    expect(stage.sql.all("SELECT count(*) AS n FROM ledger_names")).toEqual([{ n: 5_000 }]);
  });

  it("cost no write while somebody writes on within a minute", () => {
    store.record([person("slack:U1", "Ada")], stage.now);
    const writes: string[] = [];
    const watched = new NameStore({
      ...stage.sql,
      all: (statement, ...values) => {
        if (!/^\s*SELECT/.test(statement)) writes.push(statement);
        return stage.sql.all(statement, ...values);
      },
    });
    writes.length = 0;
    watched.record([person("slack:U1", "Ada"), person("slack:U1")], stage.now + 59_000);
    expect(writes).toEqual([]);
    watched.record([person("slack:U1")], stage.now + 60_000);
    expect(writes).toHaveLength(1);
  });

  it("pass on what was seen of late", () => {
    store.record([person("slack:U1", "Ada"), person("slack:U2")], stage.now);
    store.record([{ key: "slack:D1", kind: "person", personOf: "slack:U1" }], stage.now + 5);
    store.admit("slack:U1", "approval");
    const other = new NameStore(stage.sql);
    expect(other.seenSince(stage.now + 5, 9)).toEqual([
      { key: "slack:D1", kind: "person", personOf: "slack:U1" },
    ]);
    expect(other.seenSince(0, 9)).toContainEqual({
      key: "slack:U1",
      kind: "person",
      name: "Ada",
      admitted: "approval",
    });
    expect(other.seenSince(0, 1)).toHaveLength(1);
  });
});
