import { expect, onTestFinished, test } from "vitest";
import { identityGateway } from "../support/identity-gateway.ts";
import { canMount, mountVolume } from "../support/full-volume.ts";
import { startedAs } from "../support/measure.ts";
import { underTrouble } from "../support/trouble.ts";
import { startTroubledFront } from "../support/troubled-front.ts";
import { startWorker } from "../support/worker.ts";

const SEED = Number(process.env["TROUBLE_SEED"] ?? Date.now() % 1_000_000);

test.runIf(canMount)(
  `a Worker under trouble is never silent: 200 messages each have their answer, and a word within a minute (TROUBLE_SEED=${SEED})`,
  { timeout: 400_000 },
  async () => {
    const { variables, headers } = await identityGateway();
    const front = await startTroubledFront(SEED, 0.6);
    const worker = await startWorker({
      ...variables,
      ANTHROPIC_BASE_URL: front.modelUrl,
      SLACK_API_URL: front.slackApiUrl,
    });
    front.connect(worker.slack.apiUrl);
    onTestFinished(async () => {
      await worker.stop();
      front.close();
    });
    mountVolume(worker.containers, 64);

    const outcome = await underTrouble({
      url: await worker.origin(),
      slack: worker.slack,
      front,
      operator: headers,
      gateways: () => startedAs(process.pid, "gateway/main.js"),
      volume: worker.containers,
    });

    expect(outcome, JSON.stringify(front.faults)).toMatchObject({ unsettled: [], silent: [], twice: [] });
    expect(outcome.longestSeconds).toBeLessThan(65);
    expect(outcome.told).toBeGreaterThan(0);
    expect(Object.keys(front.faults).length).toBeGreaterThan(10);
  },
);
