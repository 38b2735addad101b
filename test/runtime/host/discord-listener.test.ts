import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { type Address, GatewayListener } from "../../../runtime/host/discord/listener.ts";
import { intentsFor } from "../../../runtime/host/discord/protocol.ts";
import { SessionRecord } from "../../../runtime/host/discord/record.ts";
import { openSqlite } from "../../../runtime/host/ledger.ts";
import { messageCreate } from "../../support/discord.ts";
import { fakeSocket, HELLO, READY, SESSION, settled } from "../support/discord-socket.ts";
import { silent } from "../support/ledger.ts";

beforeEach(
  () => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] }),
);
afterEach(() => void vi.useRealTimers());

const START = 1_795_000_000_000;
const GATEWAY: Address = { url: "wss://gateway.discord.gg" };

/** A listener whose connections and waits are the test's. */
function listener(addresses: Address[] = []) {
  const folder = mkdtempSync(path.join(tmpdir(), "steward-discord-"));
  const sql = openSqlite(path.join(folder, "state.db"));
  onTestFinished(() => {
    sql.close();
    rmSync(folder, { recursive: true });
  });
  const time = { now: START };
  const record = (holder: string) =>
    new SessionRecord({ sql, bot: "b", holder, isGone: () => false, clock: () => time.now });
  const opened: { url: string; discord: ReturnType<typeof fakeSocket> }[] = [];
  const asked: boolean[] = [];
  const waits: number[] = [];
  let wake: () => void = () => undefined;
  const own = record("a");
  const it = new GatewayListener({
    token: "the-token",
    intents: intentsFor({}),
    unmentioned: {},
    record: own,
    address: async (begins) => {
      asked.push(begins);
      return addresses.shift() ?? GATEWAY;
    },
    check: (url) => (url.includes("evil") ? undefined : url),
    open: async (url) => {
      const discord = fakeSocket();
      opened.push({ url, discord });
      return discord.socket;
    },
    admit: async () => undefined,
    respond: () => undefined,
    sleep: (milliseconds, signal) =>
      new Promise((resolve) => {
        waits.push(milliseconds);
        wake = resolve;
        signal.addEventListener("abort", () => resolve());
      }),
    clock: () => time.now,
    random: () => 1,
    log: silent,
  });
  onTestFinished(() => it.stop());
  const row = () => sql.all("SELECT * FROM discord_intake")[0] ?? {};
  /** The newest connection, in which the test is Discord. */
  const discord = () => {
    const last = opened.at(-1);
    if (last === undefined) throw new Error("nothing was opened");
    return last.discord;
  };
  return { it, own, record, opened, asked, waits, discord, row, time, wake: () => (wake(), settled()) };
}

test("a session is begun, kept, and resumed at its own address", async () => {
  const { it, own, opened, asked, waits, discord, row, wake } = listener();
  it.start();
  await settled();
  expect(opened.map(({ url }) => url)).toEqual(["wss://gateway.discord.gg"]);
  discord().says(HELLO, READY, { op: 0, t: "MESSAGE_CREATE", s: 2, d: messageCreate() });
  await settled();
  expect(own.session()).toMatchObject({ id: "s-2", url: "wss://b.discord.gg", sequence: 2 });
  expect(row()).toMatchObject({ mode: "connection", holder: "a", polled_at: START, error_code: null });

  discord().closes(1006);
  await settled();
  expect(waits).toEqual([1_000]);
  expect(row()).toMatchObject({ error_code: null });
  await wake();
  expect(opened.map(({ url }) => url).slice(1)).toEqual(["wss://b.discord.gg"]);
  discord().says(HELLO);
  expect(discord().sent).toMatchObject([{ op: 6, d: { session_id: "s-2", seq: 2 } }]);
  expect(asked).toEqual([true]);
});

test("a session that Discord has ended is followed by another one, after a longer wait", async () => {
  const { it, own, opened, asked, waits, discord, wake } = listener();
  own.began(SESSION);
  it.start();
  await settled();
  discord().says(HELLO, { op: 9, d: false });
  await settled();
  expect(own.session()).toBeUndefined();
  expect(waits).toEqual([5_000]);
  await wake();
  discord().says(HELLO);
  expect(discord().sent).toMatchObject([{ op: 2 }]);
  expect(opened.map(({ url }) => url)).toEqual(["wss://a.discord.gg", "wss://gateway.discord.gg"]);
  expect(asked).toEqual([true]);
});

test.each([
  [4004, "discord_token_invalid"],
  [4014, "discord_intent_refused"],
])("after %i it tells why, and connects no more", async (code, error) => {
  const { it, opened, waits, discord, row, time } = listener();
  it.start();
  await settled();
  discord().says(HELLO);
  discord().closes(code);
  await settled();
  for (let hour = 0; hour < 24; hour += 1) {
    time.now += 20_000;
    vi.advanceTimersByTime(3_600_000);
    await settled();
  }
  expect([opened.length, waits]).toEqual([1, []]);
  // The lease stays, so that no other process tries it either.
  expect(row()).toMatchObject({ error_code: error, holder: "a", expires_at: time.now + 60_000 });
  await it.stop();
  expect(row()).toMatchObject({ error_code: null, holder: null });
});

test("failures are told from the second in a row, wait longer each time, and ask for the address again", async () => {
  const { it, own, opened, waits, discord, row, wake } = listener();
  own.began(SESSION);
  it.start();
  await settled();
  const told: unknown[] = [];
  for (let attempt = 0; attempt < 4; attempt += 1) {
    discord().closes(1006);
    await settled();
    told.push(row()["error_code"]);
    await wake();
  }
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000]);
  expect(told).toEqual([null, "discord_unreachable", "discord_unreachable", "discord_unreachable"]);
  const [session, gateway] = ["wss://a.discord.gg", "wss://gateway.discord.gg"];
  expect(opened.map(({ url }) => url)).toEqual([session, session, session, gateway, gateway]);
  discord().says(HELLO);
  expect(discord().sent).toMatchObject([{ op: 6, d: { session_id: "s-1" } }]);
});

test("a session that ends at once again and again is begun more and more slowly, until one lasts", async () => {
  const { it, waits, discord, row, time, wake } = listener();
  it.start();
  await settled();
  for (let attempt = 0; attempt < 4; attempt += 1) {
    discord().says(HELLO, READY, { op: 9, d: false });
    await settled();
    await wake();
  }
  expect(waits).toEqual([5_000, 10_000, 20_000, 40_000]);
  discord().says(HELLO, READY);
  await settled();
  expect(row()).toMatchObject({ error_code: null });
  time.now += 60_000;
  discord().closes(1006);
  await settled();
  expect(waits.at(-1)).toBe(1_000);
});

test("a session's address that is not Discord's own gets no token", async () => {
  const { it, own, opened } = listener();
  own.began({ ...SESSION, url: "wss://evil.example" });
  it.start();
  await settled();
  expect(opened.map(({ url }) => url)).toEqual(["wss://gateway.discord.gg"]);
});

test("the day's limit of sessions is waited out", async () => {
  const limit: Address = {
    next: "resume",
    code: "discord_session_limit",
    detail: "No session is left for 240 minutes.",
    afterMs: 14_400_000,
  };
  const { it, opened, waits, row, wake } = listener([limit]);
  it.start();
  await settled();
  expect([opened, waits]).toEqual([[], [14_400_000]]);
  expect(row()).toMatchObject({ error_code: "discord_session_limit" });
  await wake();
  expect(opened).toHaveLength(1);
});

test("one process is connected; another one takes over when the lease is not renewed", async () => {
  const { it, record, opened, waits, discord, time, wake } = listener();
  const other = record("b");
  expect(other.take("connection")).toBe(true);
  it.start();
  await settled();
  expect([opened, waits]).toEqual([[], [5_000]]);
  time.now += 61_000;
  await wake();
  discord().says(HELLO, READY);
  await settled();
  expect(other.take("connection")).toBe(false);

  // Asleep for a minute, it has lost the lease and leaves the connection to the other one.
  time.now += 61_000;
  expect(other.take("connection")).toBe(true);
  vi.advanceTimersByTime(20_000);
  await settled();
  expect(discord().state.isEnded).toBe(true);
});

test("a stop ends the connection and keeps the session for the next process", async () => {
  const { it, own, discord, row } = listener();
  it.start();
  await settled();
  discord().says(HELLO, READY);
  await settled();
  await it.stop();
  expect(discord().state.isEnded).toBe(true);
  expect(own.session()).toMatchObject({ id: "s-2" });
  expect(row()).toMatchObject({ holder: null });
});
