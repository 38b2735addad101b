import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { identityGateway } from "../support/identity-gateway.ts";
import { underKills, type Aftermath, type Victim } from "../support/kills.ts";
import { processTree, runs, startedAs } from "../support/measure.ts";
import { startService, startSurroundings } from "../support/service.ts";
import { startWorker } from "../support/worker.ts";

const EVERY_MS = 2_500;
/** For half a minute, under some 200 events. */
const PLAN = { kills: 12, longestLifeMs: 1, mostEvents: 34, chats: 12 };
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);
const ADMIN_TOKEN = "kill-admin-token-0123456789";

/** Kills the gateway alone, from outside, and leaves it to whoever starts it again. */
async function killSteadily(
  victim: Omit<Victim, "kill" | "revive">,
  gateways: () => number[],
): Promise<Aftermath> {
  return underKills(
    {
      ...victim,
      async kill() {
        await sleep(EVERY_MS);
        for (const pid of gateways().filter(runs)) process.kill(pid, "SIGKILL");
      },
      revive: async () => {},
    },
    { ...PLAN, seed: SEED },
  );
}

test(
  `a host whose gateway is killed every 2.5 s answers all within two minutes of the last kill (KILL_SEED=${SEED})`,
  { timeout: 300_000 },
  async () => {
    const surroundings = await startSurroundings();
    const home = await mkdtemp(join(tmpdir(), "steward-kill-"));
    const { container } = await buildBundle();
    const environment = { ...surroundings.environment, ADMIN_TOKEN };
    const service = await startService(container.dir, "platform/node/host.js", home, environment);
    onTestFinished(async () => {
      await service.stop();
      await surroundings.close();
      await rm(home, { recursive: true });
    });
    const operator = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const victim = { url: () => service.url, slack: surroundings.slack, operator };
    const aftermath = await killSteadily(victim, () => processTree(service.pid).slice(1));
    expect(aftermath).toMatchObject({ lost: [], open: [] });
    expect(aftermath.events).toBeGreaterThan(100);
  },
);

test(
  `a Worker whose gateway is killed every 2.5 s answers all within two minutes of the last kill (KILL_SEED=${SEED})`,
  { timeout: 300_000 },
  async () => {
    const { variables, headers } = await identityGateway();
    const worker = await startWorker(variables);
    onTestFinished(() => worker.stop());
    const url = await worker.origin();
    const victim = { url: () => url, slack: worker.slack, operator: headers };
    const aftermath = await killSteadily(victim, () => startedAs(process.pid, "gateway/main.js"));
    expect(aftermath).toMatchObject({ lost: [], open: [] });
    expect(aftermath.events).toBeGreaterThan(100);
  },
);
