import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { killSteadily } from "../support/kills.ts";
import { processTree } from "../support/measure.ts";
import { startService, startSurroundings } from "../support/service.ts";

const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);
const ADMIN_TOKEN = "kill-admin-token-0123456789";

test(
  `a host whose gateway is killed every 2.5 s answers all within two minutes of the last kill (KILL_SEED=${SEED})`,
  { timeout: 300_000 },
  async () => {
    const surroundings = await startSurroundings();
    const home = await mkdtemp(join(tmpdir(), "steward-kill-"));
    const { container } = await buildBundle();
    const environment = { ...surroundings.environment, ADMIN_TOKEN };
    const service = await startService(container.dir, "host/main.js", home, environment);
    onTestFinished(async () => {
      await service.stop();
      await surroundings.close();
      await rm(home, { recursive: true });
    });
    const operator = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const victim = { url: () => service.url, slack: surroundings.slack, operator };
    const aftermath = await killSteadily(victim, () => processTree(service.pid).slice(1), SEED);
    expect(aftermath).toMatchObject({ lost: [], open: [] });
    expect(aftermath.events).toBeGreaterThan(50);
  },
);
