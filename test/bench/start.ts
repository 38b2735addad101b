import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { figure, median, residentMb, type Figure } from "../support/measure.ts";
import { startService, type Surroundings } from "../support/service.ts";
import { bareStartMs } from "./bare-start.ts";

/** What a process has settled to shortly after it is ready. */
const SETTLE_MS = 500;

/** What {@link measureStart} works with. */
export interface StartOptions {
  bundleDir: string;
  surroundings: Surroundings;
  runs: number;
  /** Makes an empty home, or one that is filled already. */
  home(run: number): Promise<string>;
}

/** The container's main process from its spawn to the gateway's open port, and the memory of both processes then. */
export async function measureStart(options: StartOptions): Promise<{ ready: number[]; resident: number[] }> {
  const { bundleDir, surroundings, runs, home } = options;
  const ready: number[] = [];
  const resident: number[] = [];
  // The first run fills the compile cache, which the image brings along.
  for (let run = -1; run < runs; run += 1) {
    const service = await startService(
      bundleDir,
      "supervisor/main.js",
      await home(run),
      surroundings.environment,
    );
    await sleep(SETTLE_MS);
    if (run >= 0) {
      ready.push(service.readyMs);
      resident.push(residentMb(service.pid));
    }
    await service.stop();
  }
  return { ready, resident };
}

/** The figures of a start with an empty data directory. */
export async function benchStart(options: Omit<StartOptions, "home">, folder: string): Promise<Figure[]> {
  const { ready, resident } = await measureStart({
    ...options,
    home: (run) => emptyHome(join(folder, `start${run}`)),
  });
  const bare: number[] = [];
  for (let run = 0; run < ready.length; run += 1) bare.push(await bareStartMs());
  const least = median(bare);
  return [
    figure("spawn to 18789 accepting", "ms", ready, 150),
    figure("a bare Node that starts another, which listens", "ms", bare),
    figure(
      "the first against that",
      "ratio",
      ready.map((ms) => ms / least),
      2.25,
    ),
    figure("resident memory of supervisor and gateway at ready", "MB", resident, 130),
  ];
}

/** An empty directory. */
export async function emptyHome(path: string): Promise<string> {
  await rm(path, { recursive: true, force: true });
  await mkdir(path, { recursive: true });
  return path;
}
