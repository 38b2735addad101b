import { expect, onTestFinished, test } from "vitest";
import { identityGateway } from "../support/identity-gateway.ts";
import { killSteadily } from "../support/kills.ts";
import { startedAs } from "../support/measure.ts";
import { startWorker } from "../support/worker.ts";

const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);

test(
  `a Worker whose gateway is killed every 2.5 s answers all within two minutes of the last kill (KILL_SEED=${SEED})`,
  { timeout: 300_000 },
  async () => {
    const { variables, headers } = await identityGateway();
    const worker = await startWorker(variables);
    onTestFinished(() => worker.stop());
    const url = await worker.origin();
    const victim = { url: () => url, slack: worker.slack, operator: headers };
    const aftermath = await killSteadily(victim, () => startedAs(process.pid, "gateway/main.js"), SEED);
    expect(aftermath).toMatchObject({ lost: [], open: [] });
    expect(aftermath.events).toBeGreaterThan(50);
  },
);
