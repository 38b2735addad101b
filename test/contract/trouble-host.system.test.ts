import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { canMount, mountVolume } from "../support/full-volume.ts";
import { processTree } from "../support/measure.ts";
import { startService, startSurroundings } from "../support/service.ts";
import { underTrouble } from "../support/trouble.ts";
import { startTroubledFront } from "../support/troubled-front.ts";

const SEED = Number(process.env["TROUBLE_SEED"] ?? Date.now() % 1_000_000);
const ADMIN_TOKEN = "trouble-admin-token-0123456789";

test.runIf(canMount)(
  `a host under trouble is never silent: 200 messages each have their answer, and a word within a minute (TROUBLE_SEED=${SEED})`,
  { timeout: 400_000 },
  async () => {
    const surroundings = await startSurroundings();
    const front = await startTroubledFront(SEED, 0.6);
    front.connect(surroundings.slack.apiUrl);
    const home = await mkdtemp(join(tmpdir(), "steward-trouble-"));
    onTestFinished(() => rm(home, { recursive: true }));
    const volume = join(home, "data");
    mountVolume(volume, 64);
    const { container } = await buildBundle();
    const service = await startService(container.dir, "host/main.js", home, {
      ...surroundings.environment,
      ANTHROPIC_BASE_URL: front.modelUrl,
      SLACK_API_URL: front.slackApiUrl,
      ADMIN_TOKEN,
    });
    onTestFinished(async () => {
      await service.stop();
      front.close();
      await surroundings.close();
    });

    const outcome = await underTrouble({
      url: service.url,
      slack: surroundings.slack,
      front,
      operator: { authorization: `Bearer ${ADMIN_TOKEN}` },
      gateways: () => processTree(service.pid).slice(1),
      volume,
    });

    expect(outcome, JSON.stringify(front.faults)).toMatchObject({ unsettled: [], silent: [], twice: [] });
    expect(outcome.longestSeconds).toBeLessThan(65);
    expect(outcome.told).toBeGreaterThan(0);
    expect(Object.keys(front.faults).length).toBeGreaterThan(10);
  },
);
