import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { tryWords } from "../support/false-green.ts";
import { canMount, mountVolume } from "../support/full-volume.ts";
import { processTree } from "../support/measure.ts";
import { startService, startSurroundings } from "../support/service.ts";
import { startTroubledFront } from "../support/troubled-front.ts";

const ADMIN_TOKEN = "false-green-admin-token-0123456789";

test.runIf(canMount)(
  "a host says what is wrong within half a minute, and that it is mended, fault by fault",
  { timeout: 600_000 },
  async () => {
    const surroundings = await startSurroundings();
    const front = await startTroubledFront(1, 0);
    front.connect(surroundings.slack.apiUrl);
    const home = await mkdtemp(join(tmpdir(), "steward-false-green-"));
    onTestFinished(() => rm(home, { recursive: true, force: true }));
    const data = join(home, "data");
    mountVolume(data, 64);
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

    const told = await tryWords({
      url: service.url,
      operator: { authorization: `Bearer ${ADMIN_TOKEN}` },
      slack: surroundings.slack,
      front,
      data: async () => data,
      gateways: () => processTree(service.pid).slice(1),
      spoilBackups: async () => {
        const folder = join(data, "backups");
        await rename(folder, `${folder}-before`).catch(() => undefined);
        await writeFile(folder, "no folder");
        return async () => {
          await rm(folder);
          await rename(`${folder}-before`, folder).catch(() => undefined);
        };
      },
    });

    expect(told).toBe(12);
  },
);
