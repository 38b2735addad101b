import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { figure, median, quantile, residentMb, type Figure } from "../support/measure.ts";
import { askInTurn, askSideBySide, askStandIns } from "./messages.ts";
import { startService, type Surroundings } from "../support/service.ts";
import { emptyHome } from "./start.ts";

const MESSAGES = 200;
const WARM_UP = 100;
const MANY_MESSAGES = 1_000;
const CHATS = 50;
const MODEL_MS = 500;
const SETTLE_MS = 1_000;

/** What a running host is measured with. */
export interface RunOptions {
  bundleDir: string;
  surroundings: Surroundings;
  runs: number;
  folder: string;
}

/** A message's way through a running host: signed event in, reply at the platform; then many of them. */
export async function benchMessages(options: RunOptions): Promise<Figure[]> {
  const { bundleDir, surroundings, runs, folder } = options;
  const { slack } = surroundings;
  const medians: number[] = [];
  const own: number[] = [];
  const tails: number[] = [];
  const waits: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const home = await emptyHome(join(folder, `run${run}`));
    const service = await startService(bundleDir, "host/main.js", home, surroundings.environment);
    await askInTurn(slack, service.url, 20, 5);
    const times = await askInTurn(slack, service.url, MESSAGES, 20);
    medians.push(median(times));
    const others = median(await askStandIns(surroundings.environment, MESSAGES));
    own.push(median(times) - others);
    tails.push(quantile(times, 0.99));
    surroundings.modelTakes(MODEL_MS);
    const sideBySide = await askSideBySide(slack, service.url, CHATS);
    surroundings.modelTakes(0);
    waits.push(Math.max(...sideBySide) / MODEL_MS);
    await service.stop();
  }
  return [
    figure(
      "a message through edge, ledger and gateway, the model's and Slack's stand-ins included: median",
      "ms",
      medians,
    ),
    figure(
      "the same without what the stand-ins take when they are asked directly: own overhead",
      "ms",
      own,
      15,
    ),
    figure("the same: 99 of 100 below", "ms", tails),
    figure(`${CHATS} chats at once, the slowest against the model's own ${MODEL_MS} ms`, "ratio", waits, 2),
  ];
}

/** Memory of the host's two processes behind the first message, a hundred, and a thousand more. */
export async function benchMemory(options: RunOptions): Promise<Figure[]> {
  const { bundleDir, surroundings, runs, folder } = options;
  const { slack } = surroundings;
  const behind = { first: [] as number[], many: [] as number[] };
  const against = { ready: [] as number[], warm: [] as number[] };
  for (let run = 0; run < runs; run += 1) {
    const home = await emptyHome(join(folder, `memory${run}`));
    const service = await startService(bundleDir, "host/main.js", home, surroundings.environment);
    const resident = async (): Promise<number> => {
      await sleep(SETTLE_MS);
      return residentMb(service.pid);
    };
    const ready = await resident();
    await askInTurn(slack, service.url, 1, 1);
    behind.first.push(await resident());
    await askInTurn(slack, service.url, WARM_UP, 20);
    const warm = await resident();
    await askInTurn(slack, service.url, MANY_MESSAGES, 20);
    const many = await resident();
    behind.many.push(many);
    against.ready.push(many / ready);
    against.warm.push(many / warm);
    await service.stop();
  }
  return [
    figure("resident memory of the host's two processes behind the first message", "MB", behind.first),
    figure(`the same behind ${MANY_MESSAGES} messages`, "MB", behind.many),
    figure("that against the start, which loads nothing that a message needs", "ratio", against.ready, 1.25),
    figure(
      `that against the first ${WARM_UP}, when all is loaded: a leak would show`,
      "ratio",
      against.warm,
      1.1,
    ),
  ];
}
