import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { benchBroker } from "./broker.ts";
import { benchByHand, benchTests } from "./by-hand.ts";
import { benchCommands } from "./commands.ts";
import { benchAuth } from "./edge/auth.ts";
import { benchNodeEdge } from "./edge/node.ts";
import { benchFleet } from "./edge/fleet.ts";
import { benchNeighbour, benchTenants } from "./edge/tenants.ts";
import { benchWeight } from "./edge/weight.ts";
import { benchWorkerEdge } from "./edge/worker.ts";
import { benchFiles } from "./files.ts";
import { benchFlood } from "./flood.ts";
import { benchGrowth } from "./growth.ts";
import { benchHost } from "./host.ts";
import type { Figure } from "../support/measure.ts";
import { readOptions, type Part } from "./options.ts";
import { benchPackage } from "./package.ts";
import { benchPeer } from "./peer.ts";
import { benchPages } from "./pages.ts";
import { missed, promises, table } from "./promises.ts";
import { benchReaders } from "./readers.ts";
import { benchRoster } from "./roster.ts";
import { benchMemory, benchMessages } from "./run.ts";
import { startSurroundings } from "../support/service.ts";
import { benchSize } from "./size.ts";
import { benchStack } from "./stack.ts";
import { benchStart } from "./start.ts";

// `npm run bench`: every figure that the project claims, as the median of several runs against stand-ins on this
// machine. See `npm run bench -- --help`.
const { check, json, runs, wanted } = readOptions(process.argv.slice(2));
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const bundle = await buildBundle();
const folder = await mkdtemp(join(tmpdir(), "steward-bench-"));
const surroundings = await startSurroundings();
const options = { bundleDir: bundle.container.dir, surroundings, runs, folder };

const parts: Record<Part, () => Promise<Figure[]>> = {
  size: () => benchSize(bundle),
  package: () => benchPackage(runs, folder),
  host: () => benchHost(bundle, runs, log),
  start: () => benchStart(options, folder),
  commands: () => benchCommands(options),
  messages: () => benchMessages(options),
  files: () => benchFiles(options),
  flood: () => benchFlood(options),
  broker: () => benchBroker(options),
  memory: () => benchMemory(options),
  growth: () => benchGrowth(options),
  weight: () => benchWeight(bundle, options),
  pages: () => benchPages(options),
  node: () => benchNodeEdge(options),
  worker: () => benchWorkerEdge(options),
  auth: () => benchAuth(options),
  tenants: () => benchTenants(options),
  neighbour: () => benchNeighbour(options),
  fleet: () => benchFleet(options),
  roster: () => benchRoster(options),
  readers: () => benchReaders(log),
  stack: () => benchStack(runs, log),
  hand: () => benchByHand(runs, folder, log),
  tests: () => benchTests(log),
  peer: () => benchPeer(runs, folder, log),
};

try {
  const figures: Figure[] = [];
  for (const name of wanted) {
    log(`measuring ${name}, ${runs} runs`);
    figures.push(...(await parts[name]()));
  }
  if (json) process.stdout.write(`${JSON.stringify({ runs, node: process.version, figures })}\n`);
  else process.stdout.write(table(figures));
  if (check) {
    log(promises(figures));
    process.exitCode = missed(figures).length === 0 ? 0 : 1;
  }
} finally {
  await surroundings.close();
  await rm(folder, { recursive: true, force: true });
}
