import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { tryWords } from "../support/false-green.ts";
import { canMount, mountVolume } from "../support/full-volume.ts";
import { identityGateway } from "../support/identity-gateway.ts";
import { startedAs } from "../support/measure.ts";
import { startTroubledFront } from "../support/troubled-front.ts";
import { startWorker } from "../support/worker.ts";

/** Newer than any that the Worker has made: somebody else writes into its bucket. */
const FOREIGN = "steward/generations/99999999-00000001.json";

test.runIf(canMount)(
  "a Worker says what is wrong within half a minute, and that it is mended, fault by fault",
  { timeout: 600_000 },
  async () => {
    const { variables, headers } = await identityGateway();
    const front = await startTroubledFront(1, 0);
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
    await worker.ready();

    const told = await tryWords({
      url: await worker.origin(),
      operator: headers,
      slack: worker.slack,
      front,
      data: async () => {
        const files = await readdir(worker.containers, { recursive: true });
        const config = files.find((file) => file.endsWith("steward.json")) ?? "";
        return join(worker.containers, config, "..");
      },
      gateways: () => startedAs(process.pid, "gateway/main.js"),
      spoilBackups: async () => {
        await worker.withBucket(async (bucket) => void (await bucket.put(FOREIGN, "{}")));
        return () => worker.withBucket(async (bucket) => void (await bucket.delete(FOREIGN)));
      },
    });

    expect(told).toBe(12);
  },
);
