import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Delivery, Platform } from "../../../runtime/contract/delivery.ts";
import { LedgerStore } from "../../../runtime/edge/ledger/store.ts";
import { delivery as mention } from "../support/gateway.ts";
import { LedgerStage } from "../support/ledger.ts";
import { message, update } from "../support/telegram.ts";

let stage: LedgerStage;
let store: LedgerStore;
let count: number;
beforeEach(() => {
  stage = new LedgerStage();
  store = new LedgerStore(stage.sql);
  count = 0;
});
afterEach(() => stage.close());

const arrives = (platform: Platform, payload: Record<string, unknown>, id = `Ev${(count += 1)}`) =>
  store.record({ ...stage.event(id), platform, payload });

const PICTURE = { file_id: "a", file_unique_id: "u", width: 9, height: 9 };

describe("of Telegram", () => {
  const said = (extra: object = {}) => arrives("telegram", update(message(extra)));
  const edited = (extra: object = {}) =>
    arrives("telegram", update({ ...message(extra), edit_date: 1_795_000_009 }, "edited_message"));

  it("an edit is recorded if its message is known, settled or not", () => {
    said();
    expect(edited({ text: "hello you" })).toBe("recorded");
    store.settle("telegram:Ev1", { state: "answered", note: "" }, stage.now);
    expect(edited({ text: "hello all" })).toBe("recorded");
  });

  it("an edit of what the bot never saw is left, also of the same number in another chat", () => {
    said();
    expect(edited({ message_id: 8, text: "b" })).toBe("left");
    expect(edited({ chat: { id: 5, type: "private" }, text: "b" })).toBe("left");
    expect(store.counts()).toMatchObject({ waiting: 1 });
  });

  // https://github.com/tdlib/telegram-bot-api/issues/773: a reaction makes one, too.
  it.each([
    ["nothing", {}],
    ["the name of a file that it had", { photo: [{ ...PICTURE, file_id: "b" }] }],
    ["a live location", { location: { latitude: 1, longitude: 2 } }],
    ["what it is an answer to", { reply_to_message: message({ message_id: 3 }) }],
  ])("an edit that changes %s is left", (_, change) => {
    said({ photo: [PICTURE] });
    expect(edited({ photo: [PICTURE], ...change })).toBe("left");
  });

  it.each([
    ["the caption", { caption: "look" }],
    ["the picture", { photo: [{ ...PICTURE, file_unique_id: "v" }] }],
    ["a link behind words", { entities: [{ type: "text_link", offset: 0, length: 5, url: "https://x" }] }],
  ])("an edit that changes %s is recorded", (_, change) => {
    said({ photo: [PICTURE] });
    expect(edited({ photo: [PICTURE], ...change })).toBe("recorded");
  });

  it("the newest version counts", () => {
    said();
    edited({ text: "b" });
    expect([edited({ text: "b" }), edited()]).toEqual(["left", "recorded"]);
  });

  it("an edit in a group that is on no list is left", () => {
    said();
    store.settle("telegram:Ev1", { state: "ignored", note: "not on the list", group: "1" }, stage.now);
    expect(edited({ text: "b" })).toBe("left");
  });

  it("a ledger from before messages had names is carried over", () => {
    stage.sql.all("DROP INDEX ledger_messages");
    stage.sql.all("ALTER TABLE ledger DROP COLUMN message");
    store = new LedgerStore(stage.sql);
    said();
    expect(edited({ text: "b" })).toBe("recorded");
  });
});

describe("of Slack", () => {
  const said = (event: object = {}) => arrives("slack", mention("Ev", { ...event }).payload);
  const inner = { type: "message", user: "U1", ts: "100.1", text: "<@UBOT> hello" };
  const event = (subtype: string, more: object) =>
    said({ type: "message", subtype, text: undefined, ts: "200.1", ...more });
  const changed = (change: object) => event("message_changed", { message: { ...inner, ...change } });
  const deleted = (ts = "100.1") =>
    event("message_deleted", { deleted_ts: ts, previous_message: { ...inner, ts } });

  it("an edit is recorded if its message is known, and a preview of a link is no edit", () => {
    said();
    expect(changed({ text: "<@UBOT> hello you" })).toBe("recorded");
    expect(changed({ text: "<@UBOT> hello you", attachments: [{ title: "A page" }] })).toBe("left");
    expect(changed({ ts: "100.2", text: "b" })).toBe("left");
  });

  it("a file that is taken away is an edit", () => {
    const file = { id: "F1", mode: "hosted" };
    said({ files: [file] });
    expect(changed({ files: [{ ...file, mode: "tombstone" }] })).toBe("recorded");
  });

  it("a mention that comes with an edit is recorded, whether or not the message was known", () => {
    const edited = { edited: { user: "U1", ts: "101.0" } };
    expect(said(edited)).toBe("recorded");
    expect(said(edited)).toBe("recorded");
  });

  it("a deletion is recorded while its message waits for an answer", () => {
    said();
    expect([deleted("100.2"), deleted()]).toEqual(["left", "recorded"]);
    // With replies below it, it stays as a tombstone.
    expect(changed({ subtype: "tombstone", text: "This message was deleted." })).toBe("recorded");
    store.settle("slack:Ev1", { state: "answered", note: "" }, stage.now);
    expect(deleted()).toBe("left");
  });

  it("of a change that waits nobody is told, unlike of a message", () => {
    said();
    expect(store.nextNotice()).toBe(stage.now + 60_000);
    store.settle("slack:Ev1", { state: "answered", note: "" }, stage.now);
    changed({ text: "b" });
    expect(store.nextNotice()).toBeUndefined();
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["no message", { type: "reaction_added", item: {} }],
    ["an odd message", { type: "message", subtype: "message_changed", channel: "C1", message: 7 }],
    ["a message without a number", { type: "message", channel: "C1" }],
  ])("an event with %s is recorded as it is", (_, odd) => {
    const payload: Delivery["payload"] = { type: "event_callback", event: odd };
    expect(arrives("slack", payload)).toBe("recorded");
  });
});
