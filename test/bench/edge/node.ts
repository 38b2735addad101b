import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { freePorts } from "../../../rehearsal/ports.ts";
import { openSqlite } from "../../../runtime/host/ledger.ts";
import { accepting, figure, type Figure } from "../../support/measure.ts";
import { startService, type Service } from "../../support/service.ts";
import { fillLedger } from "../growth.ts";
import type { RunOptions } from "../run.ts";
import { emptyHome } from "../start.ts";
import { fire, signedEvents } from "./load.ts";

const STOCK = 60_000;
const STEADY = 500;
/** The model answers nothing meanwhile: what is measured is taking events in, not answering them. */
const HELD_MS = 30_000;
const AT_LEAST = 0.5;

/** Verified and recorded events on Node, against a bare handler that inserts a row, and with a full ledger. */
export async function benchNodeEdge(options: RunOptions): Promise<Figure[]> {
  const { surroundings, runs, folder } = options;
  const ratios: number[] = [];
  const rates: number[] = [];
  const tails: number[] = [];
  const grown: number[] = [];
  surroundings.modelTakes(HELD_MS);
  for (let run = 0; run < runs; run += 1) {
    const bare = await startBare(join(folder, `bare${run}.db`));
    const bareRate = await fire(bare.url, signedEvents(surroundings.slack, STOCK));
    bare.stop();
    const service = await startHost(options, join(folder, `edge${run}`));
    const rate = await fire(service.url, signedEvents(surroundings.slack, STOCK));
    const steady = await fire(service.url, signedEvents(surroundings.slack, STOCK), STEADY);
    await service.stop();
    const full = await startFullHost(options, join(folder, `full${run}`));
    const fullRate = await fire(full.url, signedEvents(surroundings.slack, STOCK));
    await full.stop();
    rates.push(rate.perSecond);
    ratios.push(rate.perSecond / bareRate.perSecond);
    tails.push(steady.p99);
    grown.push(rate.perSecond / fullRate.perSecond);
  }
  surroundings.modelTakes(0);
  return [
    figure("Node: verified and recorded events a second", "count", rates),
    {
      ...figure("that against a bare handler that inserts a durable row", "ratio", ratios),
      atLeast: AT_LEAST,
    },
    figure(`Node: 99 of 100 events below, at ${STEADY} a second`, "ms", tails, 25),
    figure("Node: events a second with an empty ledger against a full one", "ratio", grown, 1.2),
  ];
}

function startHost({ bundleDir, surroundings }: RunOptions, home: string): Promise<Service> {
  return emptyHome(home).then(() => startService(bundleDir, "host/main.js", home, surroundings.environment));
}

/** With 1,000,000 settled and 10,000 open rows in its ledger. */
async function startFullHost(options: RunOptions, home: string): Promise<Service> {
  await (await startHost(options, home)).stop();
  const { bundleDir, surroundings } = options;
  const sql = openSqlite(join(home, "data", "state.db"));
  fillLedger((statement, ...values) => sql.all(statement, ...values));
  sql.close();
  return startService(bundleDir, "host/main.js", home, surroundings.environment);
}

async function startBare(file: string): Promise<{ url: string; stop(): void }> {
  const [port = 0] = await freePorts(1);
  const program = join(import.meta.dirname, "bare-node.ts");
  const child = spawn(process.execPath, [program, String(port), file], { stdio: "inherit" });
  await Promise.race([accepting(port, 30_000), once(child, "exit")]);
  return { url: `http://127.0.0.1:${port}`, stop: () => child.kill("SIGKILL") };
}
