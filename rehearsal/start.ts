/** `npm start`: deploys a stack on this machine with the real Pulumi engine and stand-ins for external services. */
import { existsSync } from "node:fs";
import { rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { BuildFailure } from "../infra/shell/failure.ts";
import { withFileLock } from "../infra/shell/cache.ts";
import { runCommand, type CommandOutput } from "../infra/shell/command.ts";
import type { Target } from "../infra/gateway/args.ts";
import { ROUTES } from "../runtime/contract/routes.ts";
import { deploy } from "./deploy.ts";
import { writeEnvironment } from "./environment-file.ts";
import { exchangeMessage } from "./message.ts";
import { readOptions, SCRIPT, TARGETS, type RehearsalOptions } from "./options.ts";
import { Progress } from "./progress.ts";
import { addresses, deploymentReport, exchangeReport, reportOf, suggestions } from "./report.ts";
import { Interruption } from "./signals.ts";
import { READABLE_WORD_MS } from "./standins/model.ts";
import { takeTour } from "./tour/index.ts";
import { destroyWorld, openWorld, type World } from "./world.ts";

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
      `another rehearsal is running in ${options.dir}`,
      "End it with Ctrl-C in its terminal, or use another folder with --dir.",
    );
  };
  if (options.tour !== undefined) {
    const tour = { name: options.tour, ...call };
    const lock = path.join(options.dir, `lock-${tour.name}`);
    await withFileLock(lock, () => takeTour(tour), busy).finally(() => rm(lock, { force: true }));
    // `rmdir` fails if the folder is not empty, as intended.
    await rmdir(options.dir).catch(() => undefined);
    return 0;
  }
  const run = options.destroy ? destroy : rehearse;
  await withFileLock(path.join(options.dir, "lock"), () => run(call), busy);
  if (options.destroy) {
    if (options.target === undefined) await removeOwnFiles(options.dir);
    output.report({ ok: true });
  }
  return 0;
}

async function destroy({ options, interruption, output }: Call): Promise<void> {
  const named = options.target === undefined ? TARGETS : [options.target];
  for (const target of named.filter((name) => existsSync(path.join(options.dir, name)))) {
    const { step, log } = progressOf(target, { options, output });
    await step(`Removing the rehearsed ${target} stack`, () =>
      interruption.abortable(() => destroyWorld(target, options, log)),
    );
    await rm(path.join(options.dir, target), { recursive: true });
  }
}

/** Removes the files that all rehearsals share. */
async function removeOwnFiles(dir: string): Promise<void> {
  for (const name of ["env", "lock"]) await rm(path.join(dir, name), { force: true });
  await rmdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOTEMPTY" && error.code !== "ENOENT") throw error;
  });
}

async function rehearse(call: Call): Promise<void> {
  const { options, interruption, output } = call;
  const { target = "serverless", once } = options;
  const progress = progressOf(target, call);
  const { step, log } = progress;
  const wordMs = once ? 0 : READABLE_WORD_MS;
  const world = await interruption.abortable(() => openWorld(target, options, log, { step, wordMs }));
  try {
    await deployAndServe(world, target, call, progress);
  } finally {
    output.say("Stopping the rehearsal\n");
    try {
      // Destroy the host stack, because its container would outlive this process.
      if (target === "host" && once) await world.stack.destroy({ color: "never", showSecrets: false });
    } finally {
      await world.close();
    }
  }
}

async function deployAndServe(
  world: World,
  target: Target,
  { options, interruption, output }: Call,
  { step, detail, file }: Progress,
): Promise<void> {
  const { say, report } = output;
  const { verbose } = options;
  const environment = await writeEnvironment(options.dir, world);
  const deployment = await interruption.abortable((signal) => deploy(world.stack, signal, detail, step));
  world.platforms.slack.connect(new URL(ROUTES.slackEvents.path, deployment.url).href);
  if (!options.once) {
    report(reportOf(world, deployment, undefined));
    say(`\n${addresses(world, deployment)}\n${deploymentReport(world, deployment, verbose)}\n`);
    say(suggestions(world, { target, environment, log: file, verbose }));
    await interruption.requested;
    return;
  }
  const exchange = await step("Sending a message through", () =>
    interruption.abortable(() => exchangeMessage(world, deployment)),
  );
  say(`\n${exchangeReport(exchange)}\n${deploymentReport(world, deployment, verbose)}\n`);
  report(reportOf(world, deployment, exchange));
}

function progressOf(target: Target, { options, output }: Pick<Call, "options" | "output">): Progress {
  const file = path.join(options.dir, target, "pulumi.log");
  return new Progress({ output, file, verbose: options.verbose });
}

await runCommand(SCRIPT, main);
