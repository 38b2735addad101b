/**
 * `npm start`: deploys a stack on this machine under the real Pulumi engine, with stand-ins for
 * what cannot be reached, and keeps it running until Ctrl-C. See `npm start -- --help`.
 */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { exclusively } from "../infra/build/cache.ts";
import { causeOf } from "./rehearsal/cause.ts";
import { deploy } from "./rehearsal/deploy.ts";
import { exchangeMessage } from "./rehearsal/message.ts";
import { readOptions, TARGETS, type RehearsalOptions } from "./rehearsal/options.ts";
import { addresses, deploymentReport, exchangeReport, jsonReport } from "./rehearsal/report.ts";
import { Interruption } from "./rehearsal/signals.ts";
import { openWorld, type World } from "./rehearsal/world.ts";
import type { Target } from "./config/schema.ts";

const json = process.argv.includes("--json");
const progress = json ? process.stderr : process.stdout;
const say = (line: string): void => void progress.write(`${line}\n`);
const report = (line: string): void => void (json && process.stdout.write(`${line}\n`));

async function rehearse(world: World, options: RehearsalOptions, interruption: Interruption): Promise<void> {
  say("Updating the stack");
  const deployment = await interruption.abortable((signal) =>
    deploy(world.stack, signal, (text) => void progress.write(text)),
  );
  world.platforms.slack.connect(`${deployment.url}/slack/events`);
  say(deploymentReport(world, deployment));
  if (!options.once) {
    report(jsonReport(world, deployment, undefined));
    say(addresses(world, deployment));
    await interruption.requested;
    return;
  }
  const exchange = await interruption.abortable(() => exchangeMessage(world, deployment));
  say(exchangeReport(exchange));
  report(jsonReport(world, deployment, exchange));
}

async function run(target: Target, options: RehearsalOptions, interruption: Interruption): Promise<void> {
  const world = await interruption.abortable(() => openWorld(target, options, say));
  try {
    if (!options.destroy) await rehearse(world, options, interruption);
  } finally {
    say("Ending what the rehearsal started");
    // A host's container outlives this process, unlike the emulated account's.
    const leavesContainer = target === "host" && options.once;
    try {
      if (options.destroy || leavesContainer) await world.destroy();
    } finally {
      await world.close();
    }
  }
  if (options.destroy) await rm(path.join(options.dir, target), { recursive: true });
}

/** What this call is about: the target that was named, else the usual one; to destroy, whatever is there. */
function targetsOf({ target, destroy, dir }: RehearsalOptions): Target[] {
  if (target !== undefined) return [target];
  return destroy ? TARGETS.filter((name) => existsSync(path.join(dir, name))) : ["serverless"];
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  const interruption = new Interruption();
  const busy = (): never => {
    throw new Error(`another rehearsal runs in ${options.dir}. Fix: end it, or give this one its own --dir`);
  };
  await exclusively(
    path.join(options.dir, "lock"),
    async () => {
      for (const target of targetsOf(options)) await run(target, options, interruption);
    },
    busy,
  );
  if (!options.destroy) return;
  if (options.target === undefined) await rm(options.dir, { recursive: true, force: true });
  report(JSON.stringify({ ok: true }));
}

try {
  await main();
  // What an ended update still had under way counts no more.
  process.exit();
} catch (error) {
  const cause = causeOf(error);
  process.stderr.write(`The rehearsal failed: ${cause}\n`);
  report(JSON.stringify({ ok: false, cause }));
  process.exit(1);
}
