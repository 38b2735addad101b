import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { figure, type Figure } from "../../support/measure.ts";
import { startWorker } from "../../support/worker.ts";
import { fillLedger } from "../growth.ts";
import { emptyHome } from "../start.ts";
import { startBareWorker } from "./bare-worker.ts";
import { fire, same, signedEvents } from "./load.ts";

const STOCK = 40_000;
/** The model answers nothing meanwhile: what is measured is taking events in, not answering them. */
const HELD_MS = 30_000;
const HEALTH = same({ method: "GET", path: "/healthz" });

type Worker = Awaited<ReturnType<typeof startWorker>>;

/** What {@link benchWorkerEdge} works with. */
export interface WorkerEdgeOptions {
  runs: number;
  folder: string;
}

/** The bundle in workerd against a bare Worker that does the same work, and with a full ledger. */
export async function benchWorkerEdge({ runs, folder }: WorkerEdgeOptions): Promise<Figure[]> {
  const health: number[] = [];
  const rates: number[] = [];
  const ratios: number[] = [];
  const grown: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const worker = await startWorker();
    const bare = await startBareWorker(await emptyHome(join(folder, `worker${run}`)));
    try {
      await worker.ready();
      worker.setModelDelay(HELD_MS);
      const bareHealth = await fire(bare.url, HEALTH);
      health.push((await fire(await worker.origin(), HEALTH)).perSecond / bareHealth.perSecond);
      const bareRate = await fire(bare.url, signedEvents(worker.slack, STOCK));
      const { perSecond } = await events(worker);
      rates.push(perSecond);
      ratios.push(perSecond / bareRate.perSecond);
      await worker.halt();
      await fill(worker.storage);
      await worker.resume();
      await worker.ready();
      grown.push(perSecond / (await events(worker)).perSecond);
    } finally {
      await Promise.all([worker.stop(), bare.close()]);
    }
  }
  return [
    { ...figure("workerd: /healthz against a bare Worker", "ratio", health), atLeast: 0.8 },
    figure("workerd: verified and recorded events a second", "count", rates),
    {
      ...figure("that against a bare Worker whose Durable Object inserts a row", "ratio", ratios),
      atLeast: 0.6,
    },
    figure("workerd: events a second with an empty ledger against a full one", "ratio", grown, 1.2),
  ];
}

async function events(worker: Worker): Promise<{ perSecond: number }> {
  return fire(await worker.origin(), signedEvents(worker.slack, STOCK));
}

/** The Durable Object's own file below workerd's storage, while workerd is down. */
async function fill(storage: string): Promise<void> {
  const names = await readdir(storage, { recursive: true });
  for (const name of names.filter((one) => one.endsWith(".sqlite"))) {
    const database = new DatabaseSync(join(storage, name));
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE name = 'ledger'").all();
    if (tables.length > 0) fillLedger((statement, ...values) => database.prepare(statement).all(...values));
    database.close();
  }
}
