import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { mention, type SlackStandIn } from "../../../rehearsal/standins/slack.ts";
import { figure, quantile, type Figure } from "../../support/measure.ts";
import { type ModuleWorker, startModule } from "../../support/module-worker.ts";
import type { RunOptions } from "../run.ts";
import { emptyHome } from "../start.ts";
import { startBareWorker } from "./bare-worker.ts";
import { fire, firePaced, type Shot } from "./load.ts";

const STOCK = 40_000;
const MAX_TENANTS = 16;
/** Nothing is answered meanwhile: taking events in is measured, not answering them. */
const HELD_MS = 60_000;
const START_MS = 30_000;
/**
 * Events of a chat, and of its neighbour's flood. Both are few for workerd: its objects share one thread, and a busy
 * thread would be measured in place of the objects.
 */
const SHARE = { perSecond: 10, seconds: 12 };
const WARM_SECONDS = 3;
const FLOOD = { ...SHARE, perSecond: 10 * SHARE.perSecond };

/** The whole Worker over stand-in containers, whose gateway holds what it is given. */
const source = (variables: Record<string, string>): string => `
  import worker from "./runtime/worker/worker.ts";
  import { Directory as RealDirectory } from "./runtime/worker/directory.ts";
  import { Sandbox as RealSandbox } from "./runtime/worker/sandbox.ts";
  import { StandInContainer } from "./test/support/workerd/container.ts";
  const bound = (env) => ({ ...env, ...${JSON.stringify(variables)}, SANDBOX: env.OBJECT });
  export class Sandbox extends RealSandbox {
    constructor(ctx, env) {
      const container = Object.assign(new StandInContainer(), { answers: true, answerMs: ${HELD_MS} });
      Object.defineProperty(ctx, "container", { value: container });
      super(ctx, bound(env));
    }
  }
  export class Directory extends RealDirectory {
    constructor(ctx, env) { super(ctx, bound(env)); }
  }
  export default { fetch: (request, env) => worker.fetch(request, bound(env)) };
`;

/** Starts the Worker, with the containers of these chats ready. */
async function startTenants(
  { surroundings }: RunOptions,
  dir: string,
  { tenancy, chats }: { tenancy: "chat" | "shared"; chats: string[] },
): Promise<ModuleWorker> {
  const { slack, environment } = surroundings;
  const variables = { ...environment, TENANCY: tenancy, PUBLIC_WEBHOOKS: "true", LOG_LEVEL: "error" };
  const worker = await startModule(source(variables), "Sandbox", dir, { directory: true });
  await Promise.all(chats.map((chat) => untilReady(worker, slack, chat)));
  return worker;
}

/** Sends a first event, which starts the chat's container, and more until it is ready. */
async function untilReady({ url }: ModuleWorker, slack: SlackStandIn, chat: string): Promise<void> {
  const end = performance.now() + START_MS;
  let status = 0;
  // The first event is answered with 200 before it is known whether the chat is let in.
  for (let count = 0; count < 2 || status !== 200; count += 1) {
    const { path, ...init } = eventsOf(slack, [chat], 1)();
    const answer = await fetch(new URL(path, url), init);
    await answer.body?.cancel();
    ({ status } = answer);
    if (performance.now() > end) throw new Error(`an event of ${chat} is still answered ${status}`);
    await sleep(500);
  }
}

/** Signed events of these chats in turn, made now. `path` is where the bare Worker sees whose they are. */
function eventsOf(slack: SlackStandIn, chats: string[], count: number): () => Shot {
  const stock = Array.from({ length: count }, (_, index): Shot => {
    const chat = chats[index % chats.length] ?? "";
    const event = slack.sign(mention("a message", { chat }));
    return { method: "POST", path: `/slack/events?object=${chat}`, ...event };
  });
  return () => {
    const shot = stock.pop();
    if (shot === undefined) throw new Error(`more than ${count} events were taken`);
    return shot;
  };
}

/**
 * Admitted events a second of 1, 4 and 16 chats, against 16 bare objects that insert a row. The objects share workerd's one
 * thread, so that more of them are no faster here.
 */
export async function benchTenants(options: RunOptions): Promise<Figure[]> {
  const { surroundings, runs, folder } = options;
  const { slack } = surroundings;
  const chats = Array.from({ length: MAX_TENANTS }, (_, index) => `L${index}`);
  const rates = { one: [] as number[], four: [] as number[], all: [] as number[], bare: [] as number[] };
  for (let run = 0; run < runs; run += 1) {
    const worker = await startTenants(options, await emptyHome(join(folder, `tenants${run}`)), {
      tenancy: "chat",
      chats,
    });
    const bare = await startBareWorker(await emptyHome(join(folder, `rows${run}`)));
    const rate = async ({ url }: ModuleWorker, count: number): Promise<number> =>
      (await fire(url, eventsOf(slack, chats.slice(0, count), STOCK))).perSecond;
    try {
      // Both are warm before anything counts.
      await rate(bare, MAX_TENANTS);
      await rate(worker, MAX_TENANTS);
      rates.bare.push(await rate(bare, MAX_TENANTS));
      rates.one.push(await rate(worker, 1));
      rates.four.push(await rate(worker, 4));
      rates.all.push(await rate(worker, MAX_TENANTS));
    } finally {
      await Promise.all([worker.close(), bare.close()]);
    }
  }
  const against = (these: number[], others: number[]): number[] =>
    these.map((rate, run) => rate / (others[run] ?? Number.NaN));
  return [
    figure(`workerd: ${MAX_TENANTS} bare objects, rows a second`, "count", rates.bare),
    figure("workerd: a chat with an object of its own, admitted events a second", "count", rates.one),
    figure("workerd: 4 such chats, admitted events a second", "count", rates.four),
    figure(`workerd: ${MAX_TENANTS} such chats, admitted events a second`, "count", rates.all),
    figure(`one chat against ${MAX_TENANTS} bare objects`, "ratio", against(rates.one, rates.bare)),
    figure(`4 chats against ${MAX_TENANTS} bare objects`, "ratio", against(rates.four, rates.bare)),
    figure(
      `${MAX_TENANTS} chats against ${MAX_TENANTS} bare objects`,
      "ratio",
      against(rates.all, rates.bare),
    ),
    figure(`${MAX_TENANTS} chats against one`, "ratio", against(rates.all, rates.one)),
  ];
}

/** The admission of a chat while another one gets ten times its events, against the same in peace. */
export async function benchNeighbour(options: RunOptions): Promise<Figure[]> {
  const { surroundings, runs, folder } = options;
  const chats = ["LA", "LB"];
  const tails: number[] = [];
  const ratios = { chat: [] as number[], shared: [] as number[], bare: [] as number[] };
  for (let run = 0; run < runs; run += 1) {
    for (const kind of ["bare", "shared", "chat"] as const) {
      const dir = await emptyHome(join(folder, `${kind}${run}`));
      const worker =
        kind === "bare"
          ? await startBareWorker(dir)
          : await startTenants(options, dir, { tenancy: kind, chats });
      try {
        const { quiet, flooded } = await neighbour(worker, surroundings.slack);
        ratios[kind].push(flooded / quiet);
        if (kind === "chat") tails.push(quiet);
      } finally {
        await worker.close();
      }
    }
  }
  const what = `beside a chat with ten times its ${SHARE.perSecond} events a second, against in peace`;
  return [
    figure("workerd: 99 of 100 events of a chat are admitted below", "ms", tails),
    figure(`the same ${what}: an object each`, "ratio", ratios.chat, 1.3),
    figure(`the same ${what}: one object for both`, "ratio", ratios.shared),
    figure(`the same ${what}: two bare objects`, "ratio", ratios.bare),
    figure(
      "the ratio of an object each against that of two bare objects",
      "ratio",
      ratios.chat.map((ratio, run) => ratio / (ratios.bare[run] ?? Number.NaN)),
    ),
  ];
}

/** 99th percentile of a chat's admission without and with its neighbour's flood, in milliseconds. */
async function neighbour({ url }: ModuleWorker, slack: SlackStandIn) {
  const events = (chat: string, { perSecond, seconds } = SHARE) =>
    eventsOf(slack, [chat], perSecond * seconds);
  await firePaced(url, events("LB", FLOOD), { ...FLOOD, seconds: WARM_SECONDS });
  const quiet = await firePaced(url, events("LB"), SHARE);
  const [flooded] = await Promise.all([
    firePaced(url, events("LB"), SHARE),
    firePaced(url, events("LA", FLOOD), FLOOD),
  ]);
  return { quiet: quantile(quiet, 0.99), flooded: quantile(flooded, 0.99) };
}
