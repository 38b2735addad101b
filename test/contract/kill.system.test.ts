import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { signal, underKills } from "../support/kills.ts";
import { processTree, runs } from "../support/measure.ts";
import { startService, startSurroundings, type Service, type Surroundings } from "../support/service.ts";

/** Enough to meet each moment of an answer; KILLS asks for more, as the workflow `check` does. */
const KILLS = Number(process.env["KILLS"] ?? 40);
const PLAN = { kills: KILLS, longestLifeMs: 300, mostEvents: 4, chats: 12 };
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);
/** Less than the supervisor waits before it starts another gateway. */
const BROKER_MS = 200;
const ADMIN_TOKEN = "kill-admin-token-0123456789";

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
  `loses no event when it is killed at ${PLAN.kills} random moments (KILL_SEED=${SEED})`,
  { timeout: 600_000 },
  async () => {
    const environment = { ...surroundings.environment, ADMIN_TOKEN };
    const start = (): Promise<Service> => startService(bundleDir, "host/main.js", home, environment);
    let service = await start();
    let hostIsGone = false;
    let held: number[] = [];
    const aftermath = await underKills(
      {
        url: () => service.url,
        slack: surroundings.slack,
        operator: { authorization: `Bearer ${ADMIN_TOKEN}` },
        async kill(random) {
          const [host = 0, gateway = 0] = processTree(service.pid);
          // The gateway alone is started again by its supervisor; with the host everything goes.
          hostIsGone = random() >= 0.3 || gateway === 0;
          process.kill(hostIsGone ? host : gateway, "SIGKILL");
          while (runs(gateway)) await sleep(5);
          if (hostIsGone) return;
          // The host sends what it has taken, and then stands still until all of it is counted.
          await sleep(BROKER_MS);
          held = processTree(host);
          signal(held, "SIGSTOP");
        },
        async revive() {
          if (!hostIsGone) return signal(held, "SIGCONT");
          await service.gone;
          service = await start();
        },
      },
      { ...PLAN, seed: SEED },
    );
    await service.stop();

    const { events, repeated } = aftermath;
    process.stdout.write(
      `${events} events, ${PLAN.kills} kills, ${repeated} messages repeated, ${aftermath.mostRepeatedOfAChat} of a chat and a life at most\n`,
    );
    // A kill between a send and its record repeats that message, one of every chat that is at work then, at
    // whatever time it comes again; a life that nobody ends says nothing twice.
    expect(aftermath).toMatchObject({ lost: [], open: [], twiceInALife: [] });
    expect(aftermath.mostRepeatedOfAChat).toBeLessThanOrEqual(1);
    await storesAreReadable();
  },
);

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
