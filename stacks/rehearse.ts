/**
 * `npm start`: deploys a stack on this machine under the real Pulumi engine, with stand-ins for
 * what cannot be reached, and keeps it running until Ctrl-C. See `npm start -- --help`.
 */
import { rm } from "node:fs/promises";
import path from "node:path";
import { exclusively } from "../infra/build/cache.ts";
import { causeOf } from "./rehearsal/cause.ts";
import { deploy } from "./rehearsal/deploy.ts";
import { exchangeMessage } from "./rehearsal/message.ts";
import { readOptions, type RehearsalOptions } from "./rehearsal/options.ts";
import { addresses, deploymentReport, exchangeReport, jsonReport } from "./rehearsal/report.ts";
import { stopRequested } from "./rehearsal/signals.ts";
import { openWorld, type World } from "./rehearsal/world.ts";

const options = readOptions(process.argv.slice(2));
const progress = options.json ? process.stderr : process.stdout;
const say = (line: string): void => void progress.write(`${line}\n`);

async function rehearse(
  world: World,
  { once: single, json }: RehearsalOptions,
  stopRequest: Promise<void>,
): Promise<void> {
  say("Updating the stack");
  const deployment = await deploy(world.stack, (text) => void progress.write(text));
  world.platforms.slack.connect(`${deployment.url}/slack/events`);
  say(deploymentReport(world, deployment));
  const exchange = single ? await exchangeMessage(world, deployment) : undefined;
  if (exchange !== undefined) say(exchangeReport(exchange));
  if (json) process.stdout.write(`${jsonReport(world, deployment, exchange)}\n`);
  if (single) return;
  say(addresses(world, deployment));
  await stopRequest;
}

async function run(): Promise<void> {
  const world = await openWorld(options, say);
  const stopRequest = stopRequested();
  try {
    // Asked to stop in the middle of an update, it still ends what it started.
    if (!options.destroy) await Promise.race([rehearse(world, options, stopRequest), stopRequest]);
    say("Ending what the rehearsal started");
    // A host's container outlives this process, unlike the emulated account's.
    const leavesContainer = options.target === "host" && options.once;
    if (options.destroy || leavesContainer) await world.stack.destroy({ color: "never" });
  } finally {
    await world.close();
  }
  if (options.destroy) await rm(path.join(options.dir, options.target), { recursive: true });
}

function busy(): never {
  throw new Error(`another rehearsal runs in ${options.dir}. Fix: end it, or give this one its own --dir`);
}

try {
  await exclusively(path.join(options.dir, "lock"), run, busy);
  // An update that was interrupted leaves its own work pending; nothing of it counts any more.
  process.exit();
} catch (error) {
  const cause = causeOf(error);
  process.stderr.write(`The rehearsal failed: ${cause}\n`);
  if (options.json) process.stdout.write(`${JSON.stringify({ ok: false, cause })}\n`);
  process.exitCode = 1;
}
