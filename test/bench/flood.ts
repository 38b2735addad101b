import { join } from "node:path";
import { figure, median, type Figure } from "../support/measure.ts";
import { startService } from "../support/service.ts";
import { askInTurn } from "./messages.ts";
import type { RunOptions } from "./run.ts";
import { emptyHome } from "./start.ts";

const MESSAGES = 150;
const EVERY_MS = 10;
const FORGED = {
  method: "POST",
  headers: {
    "content-type": "application/json",
    "x-slack-request-timestamp": "1",
    "x-slack-signature": `v0=${"0".repeat(64)}`,
  },
  body: JSON.stringify({ type: "event_callback", text: "x".repeat(7_000) }),
};
/** Sent each time: 400 requests a second, from one address. */
const PATHS: readonly [string, RequestInit][] = [
  ["/slack/events", FORGED],
  ["/telegram-webhook", FORGED],
  ["/", {}],
  ["/_admin/", { headers: { authorization: "Bearer a-wrong-token-0123456789" } }],
];

/** Measures how much longer messages take while a stranger floods a host. */
export async function benchFlood({ bundleDir, surroundings, runs, folder }: RunOptions): Promise<Figure[]> {
  const { slack } = surroundings;
  const ratios: number[] = [];
  const rates: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const home = await emptyHome(join(folder, `flood${run}`));
    const service = await startService(bundleDir, "host/main.js", home, surroundings.environment);
    await askInTurn(slack, service.url, 50, 5);
    const quiet = median(await askInTurn(slack, service.url, MESSAGES, 20));
    const started = performance.now();
    const flood = startFlood(service.url);
    const flooded = median(await askInTurn(slack, service.url, MESSAGES, 20));
    const answered = await flood.stop();
    rates.push(answered / ((performance.now() - started) / 1_000));
    ratios.push(flooded / quiet);
    await service.stop();
  }
  return [
    figure("a message while a stranger floods the host, against one in peace", "ratio", ratios, 1.5),
    figure("the flood: requests that were answered a second", "count", rates),
  ];
}

function startFlood(url: string) {
  let answered = 0;
  const ask = async (address: string, init: RequestInit): Promise<void> => {
    const response = await fetch(address, init).catch(() => undefined);
    await response?.arrayBuffer();
    if (response !== undefined) answered += 1;
  };
  const open = new Set<Promise<void>>();
  const timer = setInterval(() => {
    for (const [path, init] of PATHS) {
      const request = ask(url + path, init);
      open.add(request);
      void request.finally(() => open.delete(request));
    }
  }, EVERY_MS);
  return {
    /** Ends it, and returns how many requests were answered. */
    async stop(): Promise<number> {
      clearInterval(timer);
      await Promise.all(open);
      return answered;
    },
  };
}
