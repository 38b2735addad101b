import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildBundle } from "../../infra/build/bundle.ts";
import { mention } from "../../infra/rehearsal/standins/slack.ts";
import { processTree, runs } from "../support/measure.ts";
import { startService, startSurroundings, type Service, type Surroundings } from "../support/service.ts";

const KILLS = 200;
const LONGEST_LIFE_MS = 300;
const MOST_EVENTS = 4;
const CHATS = 12;
/** A message on its way at a kill has arrived after this time. */
const ARRIVAL_MS = 50;
/** Behind the last start: retries wait a few seconds, and their number is small. */
const SETTLE_MS = 120_000;
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);

/** An event as Slack sends it: sent again until it was answered 200, under the same id. */
interface Sent {
  event: object;
  /** What the reply to it has to quote. */
  text: string;
  accepted: boolean;
}

let surroundings: Surroundings;
let home: string;
let bundleDir: string;
beforeAll(async () => {
  surroundings = await startSurroundings();
  home = await mkdtemp(join(tmpdir(), "steward-kill-"));
  bundleDir = (await buildBundle()).container.dir;
});
afterAll(async () => {
  await surroundings.close();
  await rm(home, { recursive: true });
});

it(
  `loses no event when it is killed at ${KILLS} random moments (KILL_SEED=${SEED})`,
  { timeout: 600_000 },
  async () => {
    const random = generator(SEED);
    const start = (): Promise<Service> =>
      startService(bundleDir, "platform/node/host.js", home, surroundings.environment);
    const events: Sent[] = [];
    let service = await start();
    /** How many messages were out at the end of each life. */
    const ends: number[] = [];
    const lifeEnds = async (gateway = 0): Promise<void> => {
      while (runs(gateway)) await sleep(5);
      await sleep(ARRIVAL_MS);
      ends.push(surroundings.slack.messages().length);
    };
    for (let kill = 0; kill < KILLS; kill += 1) {
      const count = 1 + Math.floor(random() * MOST_EVENTS);
      const chat = `C${Math.floor(random() * CHATS)}`;
      const fresh = Array.from({ length: count }, (_, index) => sent(`<${kill}.${index}>`, chat));
      events.push(...fresh);
      const posts = Promise.all(fresh.map((one) => post(service.url, one)));
      await sleep(random() * LONGEST_LIFE_MS);
      const [host = 0, gateway] = processTree(service.pid);
      // The gateway alone is started again by its supervisor; with the host everything goes.
      if (random() < 0.3 && gateway !== undefined) {
        process.kill(gateway, "SIGKILL");
        await lifeEnds();
        await posts;
        continue;
      }
      process.kill(host, "SIGKILL");
      await lifeEnds(gateway);
      await posts;
      await service.gone;
      service = await start();
    }

    for (const one of events) await post(service.url, one);
    const lost = (): string[] => events.filter(({ text }) => repliesTo(text) === 0).map(({ text }) => text);
    const end = performance.now() + SETTLE_MS;
    while (lost().length > 0 && performance.now() < end) await sleep(200);
    await service.stop();

    expect(lost(), `open in the ledger: ${JSON.stringify(open(home))}`).toEqual([]);
    // A kill between a send and its record repeats that message, in every chat that is at work then; a
    // life that nobody ends says nothing twice.
    const said = surroundings.slack.messages().map(({ channel, text }) => `${channel} ${text}`);
    const repeated = said.length - new Set(said).size;
    process.stdout.write(`${events.length} events, ${KILLS} kills, ${repeated} messages repeated\n`);
    expect(
      [...ends, said.length].flatMap((end, life) => twice(said.slice(ends[life - 1] ?? 0, end))),
    ).toEqual([]);
    await storesAreReadable();
  },
);

function sent(text: string, chat: string): Sent {
  return { event: mention(text, { chat }), text, accepted: false };
}

/** Any answer but 200 is asked again later, as Slack does; so is none. */
async function post(url: string, one: Sent): Promise<void> {
  if (one.accepted) return;
  const response = await fetch(`${url}/slack/events`, {
    method: "POST",
    ...surroundings.slack.sign(one.event),
  }).catch(() => undefined);
  one.accepted = response?.status === 200;
  await response?.body?.cancel().catch(() => undefined);
}

function repliesTo(text: string): number {
  const escaped = text.replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return surroundings.slack.messages().filter((message) => message.text.includes(escaped)).length;
}

function twice(said: readonly string[]): string[] {
  return said.filter((one, index) => said.indexOf(one) !== index);
}

/** What the ledger still holds, for the report of a failure. */
function open(dir: string): unknown[] {
  const database = new DatabaseSync(join(dir, "data", "state.db"));
  const rows = database
    .prepare(
      "SELECT key, conversation, state, attempts, next_at - received_at AS wait, note FROM ledger WHERE settled_at IS NULL",
    )
    .all();
  database.close();
  return rows;
}

async function storesAreReadable(): Promise<void> {
  const data = join(home, "data");
  const database = new DatabaseSync(join(data, "state.db"));
  expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  expect(database.prepare("SELECT count(*) AS open FROM ledger WHERE settled_at IS NULL").get()).toEqual({
    open: 0,
  });
  database.close();
  const names = await readdir(data, { recursive: true });
  expect(names.filter((name) => name.includes(".corrupt-"))).toEqual([]);
  for (const name of names.filter((one) => one.endsWith(".json"))) {
    const text = await readFile(join(data, name), "utf8");
    expect(() => JSON.parse(text), name).not.toThrow();
  }
}

/** Mulberry32: a small generator, so that a run can be repeated. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
