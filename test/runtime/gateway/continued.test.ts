import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Question } from "../../../runtime/gateway/agent/agent.ts";
import { deliveriesOver, message } from "../support/deliveries.ts";

/** Time for which a message with more behind it waits for that. */
const HOLD_MS = 800;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** An inbox whose agent notes what it is asked. `say` hands a message over that comes now. */
async function listening() {
  const asked: string[][] = [];
  const answer = async ({ messages }: Question) => {
    asked.push(messages.map(({ text }) => text));
    return { text: "ok", delivery: messages.at(-1)?.delivery ?? "" };
  };
  const all = await deliveriesOver(answer);
  let count = 0;
  const say = (text: string, inbound: object = {}, inbox = all.inbox) =>
    inbox.deliver(message(String((count += 1)), text, inbound, { receivedAt: Date.now() }));
  return { ...all, asked, say };
}

const album = { continues: "g1" };
const cut = { continues: "text" };
const context = { kind: "context", direct: false };

test("an ordinary message waits for nothing", async () => {
  const { asked, say } = await listening();
  await say("hi");
  expect(asked).toEqual([["hi"]]);
});

test("an album is one question, and each of its messages extends the wait", async () => {
  const { asked, say } = await listening();
  const ends = [say("which one?", album)];
  await vi.advanceTimersByTimeAsync(HOLD_MS - 100);
  ends.push(say("second", album));
  await vi.advanceTimersByTimeAsync(HOLD_MS - 100);
  ends.push(say("third", album));
  await vi.advanceTimersByTimeAsync(HOLD_MS - 1);
  expect(asked).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);

  expect((await Promise.all(ends)).map(({ outcome }) => outcome)).toEqual([
    "answered",
    "answered",
    "answered",
  ]);
  expect(asked).toEqual([["which one?", "second", "third"]]);
});

test("a text that the app cut is one question, and one that it did not cut is answered a little later", async () => {
  const { asked, say } = await listening();
  const ends = [say("first part", cut)];
  await vi.advanceTimersByTimeAsync(120);
  ends.push(say("the rest"));
  await vi.advanceTimersByTimeAsync(HOLD_MS);
  await Promise.all(ends);
  const alone = say("just long", cut);
  await vi.advanceTimersByTimeAsync(HOLD_MS);
  await alone;
  expect(asked).toEqual([["first part", "the rest"], ["just long"]]);
});

test("what comes again after a restart waits only for what is left of its time", async () => {
  const { again, asked } = await listening();
  const receivedAt = Date.now() - HOLD_MS + 100;
  const deliveries = ["1", "2"].map((id) => message(id, id, album, { receivedAt }));
  const ends = again().inbox.take(deliveries);
  await vi.advanceTimersByTimeAsync(100);
  await Promise.all(ends);
  expect(asked).toEqual([["1", "2"]]);
});

test("a stop ends what still waits for more", async () => {
  const { asked, say, calls } = await listening();
  const end = say("which one?", album);
  await say("/stop");
  await vi.advanceTimersByTimeAsync(HOLD_MS);
  expect(await end).toEqual({ outcome: "ignored", note: "stopped" });
  expect([asked, calls.at(-1)]).toEqual([[], "send Stopped."]);
});

test("in a group the rest of what was said to the bot belongs to it, and nothing else does", async () => {
  const { asked, say, context: kept } = await listening();
  const group = { direct: false };
  const ends = [
    say("which one?", { ...group, ...album }),
    say("second", { ...context, ...album }),
    say("of another album", { ...context, continues: "g2" }),
    say("somebody else", { ...context, ...album, sender: { id: "U2" } }),
    say("no album", context),
  ];
  await vi.advanceTimersByTimeAsync(HOLD_MS);
  await Promise.all(ends);
  expect(asked).toEqual([["which one?", "second"]]);
  expect(kept.mock.calls.map(([, { text }]) => text)).toEqual([
    "of another album",
    "somebody else",
    "no album",
  ]);

  const texts = [say("first part", { ...group, ...cut }), say("the rest", context)];
  await vi.advanceTimersByTimeAsync(HOLD_MS);
  await Promise.all(texts);
  expect(asked.at(-1)).toEqual(["first part", "the rest"]);
});
