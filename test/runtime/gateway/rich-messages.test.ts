import { describe, expect, test } from "vitest";
import { textOfBlocks } from "../../../runtime/gateway/channels/blocks.ts";
import { readSlackEvent } from "../../../runtime/gateway/channels/slack/inbound.ts";
import { generator } from "../../support/random.ts";
import { directMessage } from "../support/gateway.ts";
import { read, SOMEBODY, telegramAccess } from "../support/telegram.ts";

const UNREADABLE_TEXT =
  "I could not read that kind of message. Please send it as text, or as a picture or file.";

const RICH = {
  blocks: [
    { type: "heading", text: "Plan" },
    {
      type: "paragraph",
      text: ["See ", { type: "url", text: "the page", url: "https://example.com/a" }, "."],
    },
    {
      type: "list",
      ordered: true,
      items: [
        { type: "item", text: "first" },
        { type: "item", text: [{ type: "bold", text: "second" }] },
      ],
    },
    { type: "table", rows: [{ cells: ["a", "b"] }, { cells: [{ text: "1" }, { text: "2" }] }] },
    { type: "quote", text: "said" },
    { type: "pre", text: "x = 1", language: "python" },
    { type: "something_new", text: "still seen" },
  ],
};
const TEXT = [
  "# Plan",
  "See the page (https://example.com/a).",
  "1. first",
  "2. second",
  "| a | b |",
  "| 1 | 2 |",
  "> said",
  "```",
  "x = 1",
  "```",
  "still seen",
].join("\n");
const withoutText = (extra: object) => ({ text: undefined, ...extra });

describe("a rich message of Telegram", () => {
  test("becomes text: blocks in their order, lists, tables, quotes, code and links", () => {
    expect(textOfBlocks(RICH.blocks)).toBe(TEXT);
    expect(read(withoutText({ rich_message: RICH }))).toMatchObject({ kind: "message", text: TEXT });
  });

  test("addresses the bot in a group as any other does, and its commands are commands", () => {
    const said = (text: string) => read(withoutText({ rich_message: { blocks: [{ text }] } }), "group");
    expect(said("nobody is asked")).toMatchObject({ kind: "context" });
    expect(said("@StewardBot are you there?")).toMatchObject({ kind: "message", text: "are you there?" });
    expect(said("/help@StewardBot")).toMatchObject({ kind: "message", text: "/help" });
    expect(said("/help@AnotherBot")).toMatchObject({ kind: "ignored", note: "a command for another bot" });
  });
});

describe("a message of a kind that cannot be read", () => {
  const REFUSED = { kind: "refused", text: UNREADABLE_TEXT };

  test.each(["dice", "game", "story", "paid_media", "something_of_next_year", "rich_message"])(
    "%s is answered in a direct chat and where the bot was addressed, and left alone elsewhere",
    (kind) => {
      const content = withoutText({ [kind]: {} });
      expect(read(content)).toMatchObject(REFUSED);
      expect(read(content, "group")).toEqual({ kind: "ignored", note: "no text" });
      const reply = { ...content, reply_to_message: { from: { id: 1234567890, is_bot: true } } };
      expect(read(reply, "group")).toMatchObject(REFUSED);
      // Also where every message is answered: nobody has said anything.
      const access = telegramAccess({ groups: { "*": { requireMention: false } } });
      expect(read(content, "group", { access })).toEqual({ kind: "ignored", note: "no text" });
    },
  );

  test("from a stranger is answered as any message of a stranger", () => {
    const access = telegramAccess({ dmPolicy: "pairing" });
    const content = withoutText({ from: SOMEBODY, dice: {} });
    expect(read(content, "private", { access })).toMatchObject({ kind: "unpaired" });
  });

  test.each([
    "pinned_message",
    "new_chat_members",
    "forum_topic_created",
    "video_chat_started",
    "gift",
    "community_chat_added",
    "chat_owner_left",
    "poll_option_added",
    "managed_bot_created",
    "giveaway_winners",
  ])("%s is a notice of the chat, which nobody waits to have answered", (kind) =>
    expect(read(withoutText({ [kind]: {} }))).toEqual({ kind: "ignored", note: "no text" }),
  );
});

describe("Slack's blocks", () => {
  // The one method that a direct message asks for.
  const open = { direct: () => ({ allowed: true }) } as unknown as Parameters<typeof readSlackEvent>[1];
  const slack = (event: object) => readSlackEvent(directMessage("Ev1", { text: "", ...event }).payload, open);

  test("are read if there is no text", () => {
    const blocks = [
      { type: "header", text: { type: "plain_text", text: "Plan" } },
      {
        type: "rich_text",
        elements: [
          {
            type: "rich_text_section",
            elements: [
              { type: "text", text: "Ask " },
              { type: "user", user_id: "U1" },
              { type: "text", text: " about " },
              { type: "link", url: "https://example.com", text: "this" },
            ],
          },
          {
            type: "rich_text_list",
            style: "bullet",
            elements: [{ type: "rich_text_section", elements: [{ type: "text", text: "one" }] }],
          },
        ],
      },
    ];
    expect(textOfBlocks(blocks)).toBe(
      ["# Plan", "Ask <@U1> about this (https://example.com)", "- one"].join("\n"),
    );
    expect(slack({ blocks })).toMatchObject({ kind: "message", text: expect.stringContaining("about this") });
  });

  test("nothing that can be read is answered", () => {
    expect(slack({ blocks: [{ type: "divider" }] })).toMatchObject({
      kind: "refused",
      text: UNREADABLE_TEXT,
    });
  });
});

test("2,000 generated rich messages become text or a clear refusal, never silence, and none crashes", () => {
  const random = generator(20261122);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const keys = [
    "text",
    "content",
    "blocks",
    "items",
    "rows",
    "cells",
    "elements",
    "children",
    "url",
    "title",
  ];
  const kinds = ["heading", "list", "table", "quote", "pre", "paragraph", "bold", "unknown", 7, null];
  const value = (depth: number): unknown => {
    const choice = random();
    if (depth > 6 || choice < 0.35) return pick(["word", "", "@StewardBot", 5, null, true, "\u0000"]);
    if (choice < 0.6) return Array.from({ length: Math.floor(random() * 4) }, () => value(depth + 1));
    const fields = Array.from({ length: 1 + Math.floor(random() * 3) }, () => [pick(keys), value(depth + 1)]);
    return { type: pick(kinds), ...Object.fromEntries(fields) };
  };
  const seen = new Set<string>();
  for (let count = 0; count < 2_000; count += 1) {
    const blocks = value(0);
    const inbound = read(withoutText({ rich_message: { blocks } }));
    seen.add(inbound.kind);
    expect(["message", "refused"], JSON.stringify(blocks)).toContain(inbound.kind);
  }
  expect(seen).toEqual(new Set(["message", "refused"]));
});

test("nested lists are walked once, and a kind that is no text is none", () => {
  let list: object = { type: "item", text: "deep" };
  let kind: unknown = "list";
  for (let depth = 0; depth < 30; depth += 1) list = { type: "list", items: [list] };
  for (let depth = 0; depth < 100_000; depth += 1) kind = [kind];
  expect(textOfBlocks(list)).toMatch(/^(?:- ){30}deep$/);
  expect(textOfBlocks([{ type: kind, text: "seen" }])).toBe("seen");
});

test("blocks that are nested without end are cut, and long ones take linear time", () => {
  let nested: unknown = "deep";
  for (let depth = 0; depth < 100_000; depth += 1) nested = depth % 2 === 0 ? [nested] : { blocks: nested };
  expect(textOfBlocks(nested)).toBe("");
  const long = Array.from({ length: 50_000 }, (_, at) => ({ type: "paragraph", text: `line ${at}` }));
  expect(textOfBlocks(long).split("\n")).toHaveLength(50_000);
});
