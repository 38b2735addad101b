import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { mountVolume } from "./full-volume.ts";
import { identityGateway } from "./identity-gateway.ts";
import { processTree, startedAs } from "./measure.ts";
import { startService, startSurroundings } from "./service.ts";
import { startTroubledFront } from "./troubled-front.ts";
import { startWorker } from "./worker.ts";

const ADMIN_TOKEN = "troubled-admin-token-0123456789";
const VOLUME_MIB = 64;

/** Starts a host behind {@link startTroubledFront}, with its data on a small volume. */
export async function startTroubledHost(...trouble: Parameters<typeof startTroubledFront>) {
  const { slack, environment, close } = await startSurroundings();
  const front = await startTroubledFront(...trouble);
  front.connect(slack.apiUrl);
  const home = await mkdtemp(join(tmpdir(), "steward-troubled-"));
  onTestFinished(() => rm(home, { recursive: true }));
  const volume = join(home, "data");
  mountVolume(volume, VOLUME_MIB);
  const { container } = await buildBundle();
  const service = await startService(container.dir, "host/main.js", home, {
    ...environment,
    ANTHROPIC_BASE_URL: front.modelUrl,
    SLACK_API_URL: front.slackApiUrl,
    ADMIN_TOKEN,
  });
  onTestFinished(async () => {
    await service.stop();
    front.close();
    await close();
  });
  return {
    url: service.url,
    slack,
    front,
    operator: { authorization: `Bearer ${ADMIN_TOKEN}` },
    gateways: () => processTree(service.pid).slice(1),
    volume,
  };
}

export async function startTroubledWorker(...trouble: Parameters<typeof startTroubledFront>) {
  const { variables, headers } = await identityGateway();
  const front = await startTroubledFront(...trouble);
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
  mountVolume(worker.containers, VOLUME_MIB);
  return {
    worker,
    url: await worker.origin(),
    slack: worker.slack,
    front,
    operator: headers,
    gateways: () => startedAs(process.pid, "gateway/main.js"),
    volume: worker.containers,
  };
}
