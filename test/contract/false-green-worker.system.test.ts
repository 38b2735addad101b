import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tryWords } from "../support/false-green.ts";
import { canMount } from "../support/full-volume.ts";
import { startedAs } from "../support/measure.ts";
import { startTroubledWorker } from "../support/troubled-services.ts";

/** Newer than any that the Worker has made: somebody else writes into its bucket. */
const FOREIGN = "steward/generations/99999999-00000001.json";

test.runIf(canMount)(
  "a Worker says what is wrong within half a minute, and that it is mended, fault by fault",
  { timeout: 600_000 },
  async () => {
    const { worker, volume, ...tried } = await startTroubledWorker(1, 0);
    await worker.ready();

    const told = await tryWords({
      ...tried,
      containers: () => startedAs(process.pid, "supervisor/main.js"),
      data: async () => {
        const files = await readdir(volume, { recursive: true });
        const config = files.find((file) => file.endsWith("steward.json")) ?? "";
        return join(volume, config, "..");
      },
      spoilBackups: async () => {
        await worker.withBucket(async (bucket) => void (await bucket.put(FOREIGN, "{}")));
        return () => worker.withBucket(async (bucket) => void (await bucket.delete(FOREIGN)));
      },
    });

    expect(told).toBe(14);
  },
);
