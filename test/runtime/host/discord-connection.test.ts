import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Delivery } from "../../../runtime/contract/delivery.ts";
import { DiscordConnection } from "../../../runtime/host/discord/connection.ts";
import {
  type ConnectionEnd,
  gatewayUrl,
  intentsFor,
  messageDelivery,
  type Session,
} from "../../../runtime/host/discord/protocol.ts";
import { BOT_USER, command, messageCreate, pressed } from "../../support/discord.ts";
import { fakeSocket, HELLO, READY, SESSION, settled } from "../support/discord-socket.ts";
import { silent } from "../support/ledger.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const NOW = 1_795_000_000_000;
const message = (id: string, s: number) => ({ op: 0, t: "MESSAGE_CREATE", s, d: messageCreate({ id }) });

/** A connection in which the test is Discord, with what it writes down. */
function connection({ session, admit }: { session?: Session; admit?(): Promise<void> } = {}) {
  const discord = fakeSocket();
  const [admitted, sequences]: [Delivery[], number[]] = [[], []];
  const began: Session[] = [];
  const responses: object[] = [];
  const it = new DiscordConnection({
    socket: discord.socket,
    token: "the-token",
    intents: intentsFor({}),
    unmentioned: {},
    session,
    record: { began: (one) => void began.push(one), answered: (one) => void sequences.push(one) },
    admit: async (delivery) => {
      await admit?.();
      admitted.push(delivery);
    },
    respond: (_, response) => void responses.push(response),
    clock: () => NOW,
    random: () => 0.25,
    log: silent,
  });
  let end: ConnectionEnd | undefined;
  void it.run().then((one) => (end = one));
  return { ...discord, it, admitted, sequences, began, responses, end: () => end };
}

test("a session begins without a privileged intent, and its heartbeats come in time", async () => {
  const { says, sent, began, sequences, it, state } = connection();
  says(HELLO);
  expect(sent).toMatchObject([{ op: 2, d: { token: "the-token", intents: 512 + 4_096 } }]);
  expect(intentsFor({ "1": false, "*": true })).toBe(512 + 4_096 + 32_768);
  says(READY);
  await settled();
  expect(began).toEqual([{ id: "s-2", url: "wss://b.discord.gg", user: BOT_USER, sequence: 1 }]);
  expect(it.isReady).toBe(true);
  vi.advanceTimersByTime(10_000);
  expect(sent.slice(1)).toEqual([{ op: 1, d: 1 }]);
  says({ op: 11 });
  vi.advanceTimersByTime(40_000);
  expect(sent.slice(2)).toEqual([{ op: 1, d: 1 }]);
  expect(sequences).toEqual([1]);
  expect(state.isEnded).toBe(false);
});

test("a connection that answers no heartbeat is left, and its session resumed", async () => {
  const { says, sent, end, state } = connection({ session: SESSION });
  says(HELLO);
  expect(sent).toEqual([{ op: 6, d: { token: "the-token", session_id: "s-1", seq: 7 } }]);
  vi.advanceTimersByTime(10_000 + 40_000);
  await settled();
  expect(state.isEnded).toBe(true);
  expect(end()).toMatchObject({ next: "resume", detail: expect.stringContaining("heartbeat") });
});

test("a heartbeat that Discord asks for is sent at once", () => {
  const { says, sent } = connection({ session: SESSION });
  says(HELLO, { op: 1, d: null });
  expect(sent.at(-1)).toEqual({ op: 1, d: 7 });
});

test("the sequence moves only once an event is in the ledger", async () => {
  let record = (): void => undefined;
  const admit = () => new Promise<void>((resolve) => (record = resolve));
  const { says, sent, sequences, admitted, state } = connection({ session: SESSION, admit });
  says(HELLO, message("1001", 8));
  await settled();
  expect(state.isPaused).toBe(true);
  says({ op: 1, d: null });
  expect(sent.at(-1)).toEqual({ op: 1, d: 7 });
  record();
  await settled();
  expect(sequences).toEqual([8]);
  expect(state.isPaused).toBe(false);
  says({ op: 1, d: null });
  expect(sent.at(-1)).toEqual({ op: 1, d: 8 });
  expect(admitted).toMatchObject([
    { id: "1001", platform: "discord", conversation: "discord:1094323234567890123", receivedAt: NOW },
  ]);
});

test.each([
  ["while it is open", false],
  ["after it was closed", true],
])("an event that cannot be recorded ends the connection before the next one: %s", async (_, isClosed) => {
  let fail = (): void => undefined;
  let asked = 0;
  const admit = () =>
    new Promise<void>((resolve, reject) => {
      asked += 1;
      if (asked > 1) resolve();
      fail = () => reject(new Error("disk is full"));
    });
  const { says, closes, sequences, admitted, end } = connection({ session: SESSION, admit });
  says(HELLO, message("1001", 8), message("1002", 9));
  await settled();
  if (isClosed) closes(1006);
  fail();
  await settled();
  expect([admitted, sequences]).toEqual([[], []]);
  expect(end()).toMatchObject({ next: "resume", code: isClosed ? "discord_unreachable" : "internal" });
});

test("events that came before the end are recorded before it is reported", async () => {
  const { says, closes, sequences, end } = connection({ session: SESSION });
  says(HELLO, message("1001", 8), message("1002", 9), { op: 0, t: "RESUMED", s: 10, d: {} });
  closes(1006);
  expect(end()).toBeUndefined();
  await settled();
  expect(sequences).toEqual([8, 9, 10]);
  expect(end()).toMatchObject({ next: "resume" });
});

test.each([
  ["a command", command("hi"), { type: 5 }, 1],
  ["a press", pressed("a-button"), { type: 6 }, 1],
  ["a menu", pressed("x", { data: { component_type: 3, custom_id: "x" } }), { type: 4 }, 0],
])("%s is answered once it is in the ledger", async (_, d, response, recorded) => {
  let record = (): void => undefined;
  const admit = () => new Promise<void>((resolve) => (record = resolve));
  const { says, responses, admitted } = connection({ session: SESSION, admit });
  says(HELLO, { op: 0, t: "INTERACTION_CREATE", s: 8, d });
  await settled();
  expect(responses).toHaveLength(1 - recorded);
  record();
  await settled();
  expect(responses).toMatchObject([response]);
  expect(admitted).toHaveLength(recorded);
});

test("what needs no record moves the sequence, which the next heartbeat names", async () => {
  const { says, sent, sequences } = connection({ session: SESSION });
  says(HELLO, { op: 0, t: "TYPING_START", s: 8, d: {} });
  await settled();
  expect(sequences).toEqual([]);
  says({ op: 1, d: null });
  expect(sent.at(-1)).toEqual({ op: 1, d: 8 });
});

// https://docs.discord.com/developers/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes
test.each([
  [1000, "resume", "discord_unreachable"],
  [1006, "resume", "discord_unreachable"],
  [4000, "resume", "discord_unreachable"],
  [4003, "resume", "discord_unreachable"],
  [4007, "identify", "discord_unreachable"],
  [4008, "resume", "discord_unreachable"],
  [4009, "identify", "discord_unreachable"],
  [4004, "stop", "discord_token_invalid"],
  [4010, "stop", "discord_connection_refused"],
  [4011, "stop", "discord_connection_refused"],
  [4012, "stop", "discord_connection_refused"],
  [4013, "stop", "discord_connection_refused"],
  [4014, "stop", "discord_intent_refused"],
])("after the close code %i: %s", async (code, next, error) => {
  const { says, closes, end } = connection({ session: SESSION });
  says(HELLO);
  closes(code);
  await settled();
  expect(end()).toMatchObject({ next, code: error, detail: expect.stringContaining(String(code)) });
});

test.each([
  ["asks to reconnect", { op: 7, d: null }, { next: "resume", expected: true }],
  ["has lost the session", { op: 9, d: false }, { next: "identify" }],
  ["has not lost the session", { op: 9, d: true }, { next: "resume" }],
  ["says nothing readable", ["x"], { next: "resume", detail: expect.stringContaining("unreadable") }],
  ["names no interval", { op: 10, d: {} }, { next: "resume" }],
])("Discord %s", async (_, payload, expected) => {
  const { says, end, state } = connection({ session: SESSION });
  says(payload);
  await settled();
  expect(end()).toMatchObject(expected);
  expect(state.isEnded).toBe(true);
});

test("a connection that does not come about says why", async () => {
  const { fails, closes, end } = connection();
  fails("connect ECONNREFUSED");
  closes(1006);
  await settled();
  expect(end()).toMatchObject({ next: "resume", detail: expect.stringContaining("ECONNREFUSED") });
  const silentOne = connection();
  vi.advanceTimersByTime(30_000);
  await settled();
  expect(silentOne.end()).toMatchObject({ next: "resume", detail: "Discord sent no HELLO." });
});

test("no payload throws", () => {
  const payload = fc.record(
    {
      op: fc.oneof(fc.constantFrom(0, 1, 2, 6, 7, 9, 10, 11), fc.jsonValue()),
      d: fc.jsonValue(),
      s: fc.jsonValue(),
      t: fc.oneof(fc.constantFrom("READY", "RESUMED", "MESSAGE_CREATE"), fc.jsonValue()),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(payload, fc.jsonValue()), { maxLength: 6 }), (payloads) => {
      const { says } = connection();
      expect(() => says(...payloads)).not.toThrow();
    }),
    { numRuns: 500 },
  );
});

const BOT = { user: BOT_USER, unmentioned: {} };
const MENTION = { mentions: [{ id: BOT_USER, username: "steward" }] };
test.each<[string, object, "direct" | "server", boolean]>([
  ["a direct message", {}, "direct", true],
  ["a mention", MENTION, "server", true],
  ["an answer to the bot", { referenced_message: { author: { id: BOT_USER } } }, "server", true],
  ["an answer to somebody else", { referenced_message: { author: { id: "5" } } }, "server", false],
  ["a message on a server, whose words do not come", { content: "" }, "server", false],
  ["the bot's own message", { author: { id: BOT_USER } }, "direct", false],
  ["another bot's mention", { ...MENTION, author: { id: "5", bot: true } }, "server", false],
  ["a webhook's mention", { ...MENTION, webhook_id: "5" }, "server", false],
  ["a message with odd parts", { mentions: "all", referenced_message: 7 }, "direct", true],
  ["an id that is none", { id: "1; drop" }, "direct", false],
])("in the ledger: %s", (_, fields, place, isRecorded) => {
  const value = messageCreate(fields, place);
  const delivery = messageDelivery(value, BOT, NOW);
  expect(delivery !== undefined).toBe(isRecorded);
  expect(delivery?.payload ?? { t: "MESSAGE_CREATE", bot: BOT_USER, d: value }).toEqual({
    t: "MESSAGE_CREATE",
    bot: BOT_USER,
    d: value,
  });
});

test.each([
  ["a server that needs none", { "290926798626357999": true }, true],
  ["any server", { "*": true }, true],
  ["any server but this one", { "*": true, "290926798626357999": false }, false],
  ["another server", { "1": true }, false],
])("without a mention, people's messages are recorded on %s alone", (_, unmentioned, isRecorded) => {
  const all = { user: BOT_USER, unmentioned };
  expect(messageDelivery(messageCreate({}, "server"), all, NOW) !== undefined).toBe(isRecorded);
  expect(
    messageDelivery(messageCreate({ author: { id: "5", bot: true } }, "server"), all, NOW),
  ).toBeUndefined();
});

const DISCORD = "https://discord.com/api/v10";
test.each([
  ["wss://gateway.discord.gg/", DISCORD, "wss://gateway.discord.gg/?v=10&encoding=json"],
  ["wss://gateway-us-east1-b.discord.gg", DISCORD, "wss://gateway-us-east1-b.discord.gg/?v=10&encoding=json"],
  ["ws://gateway.discord.gg/", DISCORD, undefined],
  ["wss://evil.example/", DISCORD, undefined],
  ["wss://discord.gg.evil.example/", DISCORD, undefined],
  ["wss://evil.example/.discord.gg", DISCORD, undefined],
  ["ws://127.0.0.1:1/", DISCORD, undefined],
  ["nonsense", DISCORD, undefined],
  ["ws://127.0.0.1:1/", "http://127.0.0.1:2/api/v10", "ws://127.0.0.1:1/?v=10&encoding=json"],
])("the token goes to Discord's own gateway alone: %s", (url, apiUrl, expected) => {
  expect(gatewayUrl(url, apiUrl, DISCORD)).toBe(expected);
});
