import { setTimeout as sleep } from "node:timers/promises";
import type { Bundle } from "../../infra/bundle/bundle.ts";
import { docker, dockerAvailable } from "../../infra/shell/docker.ts";
import { figure, residentMb, type Figure } from "../support/measure.ts";
import { startContainer } from "../support/targets/container.ts";
import { imageSize } from "./size.ts";

const START_MS = 60_000;
const SETTLE_MS = 3_000;

/** The host's container as the stack runs it: from `docker run` to a ready gateway, with an empty volume. */
export async function benchHost(
  bundle: Bundle,
  runs: number,
  log: (line: string) => void,
): Promise<Figure[]> {
  if (!(await dockerAvailable()).ok) {
    log("no Docker engine: the host's container is left out");
    return [];
  }
  const size = await imageSize(bundle, log);
  const ready: number[] = [];
  const resident: number[] = [];
  // The first run reads the image from the disk.
  for (let run = -1; run < runs; run += 1) {
    const container = await startContainer();
    try {
      await answers(`${container.url}/readyz`);
      const readyMs = performance.now() - container.startedAt;
      await sleep(SETTLE_MS);
      if (run >= 0) {
        ready.push(readyMs);
        resident.push(await containerMb(container.name));
      }
    } finally {
      await container.stop();
    }
  }
  return [
    size,
    figure("docker run to a ready host", "ms", ready, 600),
    figure("resident memory of the host's container at ready", "MB", resident),
  ];
}

async function answers(url: string): Promise<void> {
  const end = performance.now() + START_MS;
  const ok = (): Promise<boolean> =>
    fetch(url).then(
      (response) => response.ok,
      () => false,
    );
  while (!(await ok())) {
    if (performance.now() > end) throw new Error(`${url} was not ready within ${START_MS} ms`);
    await sleep(5);
  }
}

async function containerMb(name: string): Promise<number> {
  const { stdout } = await docker(["inspect", "--format={{.State.Pid}}", name]);
  return residentMb(Number(stdout));
}
