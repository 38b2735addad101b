/**
 * `npm start`: deploys a stack on this machine under the real Pulumi engine, with stand-ins for what cannot be reached,
 * and keeps it running until Ctrl-C. See `npm start -- --help`.
 */
import { existsSync } from "node:fs";
import { rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { BuildFailure } from "../infra/shell/failure.ts";
import { exclusively } from "../infra/shell/cache.ts";
import { runCommand, type CommandOutput } from "../infra/shell/command.ts";
import type { Target } from "../infra/gateway/args.ts";
import { deploy } from "./deploy.ts";
import { writeEnvironment } from "./environment-file.ts";
import { exchangeMessage } from "./message.ts";
import { readOptions, SCRIPT, TARGETS, type RehearsalOptions } from "./options.ts";
import { addresses, deploymentReport, exchangeReport, reportOf } from "./report.ts";
import { Interruption } from "./signals.ts";
import { destroyWorld, openWorld, type World } from "./world.ts";

/** One call of `npm start`. */
interface Call {
  options: RehearsalOptions;
  interruption: Interruption;
  output: CommandOutput;
}

async function main(argv: string[], output: CommandOutput): Promise<number> {
  const options = readOptions(argv);
  const call = { options, interruption: new Interruption(), output };
  const busy = (): never => {
    throw new BuildFailure(
      "rehearsal_running",
      `another rehearsal runs in ${options.dir}`,
      "End it with Ctrl-C in its terminal, or give this one a folder of its own with --dir.",
    );
  };
  const run = options.destroy ? destroy : rehearse;
  await exclusively(path.join(options.dir, "lock"), () => run(call), busy);
  if (options.destroy) {
    if (options.target === undefined) await removeOwnFiles(options.dir);
    output.report({ ok: true });
  }
  return 0;
}

async function destroy({ options, interruption, output }: Call): Promise<void> {
  const log = (line: string): void => output.say(`${line}\n`);
  const named = options.target === undefined ? TARGETS : [options.target];
  for (const target of named.filter((name) => existsSync(path.join(options.dir, name)))) {
    log(`Removing what was rehearsed of the ${target} stack`);
    await interruption.abortable(() => destroyWorld(target, options, log));
    await rm(path.join(options.dir, target), { recursive: true });
  }
}

/** Leaves what others keep in the folder: records of rollouts, previews, artefacts of tests. */
async function removeOwnFiles(dir: string): Promise<void> {
  for (const name of ["env", "lock"]) await rm(path.join(dir, name), { force: true });
  await rmdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOTEMPTY" && error.code !== "ENOENT") throw error;
  });
}

async function rehearse(call: Call): Promise<void> {
  const { options, interruption, output } = call;
  const { target = "serverless" } = options;
  const world = await interruption.abortable(() =>
    openWorld(target, options, (line) => output.say(`${line}\n`)),
  );
  try {
    await deployAndServe(world, target, call);
  } finally {
    output.say("Ending what the rehearsal started\n");
    try {
      // A host's container outlives this process, unlike the emulated account's.
      if (target === "host" && options.once)
        await world.stack.destroy({ color: "never", showSecrets: false });
    } finally {
      await world.close();
    }
  }
}

async function deployAndServe(
  world: World,
  target: Target,
  { options, interruption, output }: Call,
): Promise<void> {
  const { say, report } = output;
  say("Updating the stack\n");
  const environment = await writeEnvironment(options.dir, world);
  const deployment = await interruption.abortable((signal) => deploy(world.stack, signal, say));
  world.platforms.slack.connect(`${deployment.url}/slack/events`);
  say(`${deploymentReport(world, deployment, options.verbose)}\n`);
  if (!options.once) {
    report(reportOf(world, deployment, undefined));
    say(`${addresses(world, deployment, { target, environment, verbose: options.verbose })}\n`);
    await interruption.requested;
    return;
  }
  const exchange = await interruption.abortable(() => exchangeMessage(world, deployment));
  say(`${exchangeReport(exchange)}\n`);
  report(reportOf(world, deployment, exchange));
}

await runCommand(SCRIPT, main);
