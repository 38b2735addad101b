/**
 * `npm run policies`: the policy pack on the preview of a stack, which changes nothing. Ends with 1 where
 * a mandatory rule is broken. With `--publish-dir` the pack alone. See `npm run policies -- --help`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { openDeployed, WHATEVER_TARGET } from "./deployed/stack.ts";
import { causeOf } from "./rehearsal/cause.ts";
import { openWorld } from "./rehearsal/world.ts";
import { readOptions, type PolicyOptions } from "./policies/options.ts";
import { previewWithPolicies } from "./policies/preview.ts";
import { preparePublication } from "./policies/publish.ts";
import type { OpenStack } from "./rehearsal/stack.ts";
import type { Target } from "./config/schema.ts";

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** The rehearsal's stack as it would be created: nothing of it stays, and one that runs is not touched. */
async function openRehearsed(target: Target): Promise<OpenStack> {
  const dir = await mkdtemp(path.join(tmpdir(), "steward-policies-"));
  const remove = () => rm(dir, { recursive: true, force: true });
  const options = { target, once: true, json: false, destroy: false, sandbox: "process", dir } as const;
  try {
    const world = await openWorld(target, options, say);
    return { stack: world.stack, close: () => world.close().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function main(options: PolicyOptions): Promise<string> {
  const { rehearse, stack: name, config, backup, publishDir } = options;
  if (publishDir !== undefined) return preparePublication(publishDir, say);
  const opened =
    rehearse === undefined
      ? await openDeployed(name, { ...WHATEVER_TARGET, log: say })
      : await openRehearsed(rehearse);
  try {
    const onOutput = (text: string): void => void process.stdout.write(text);
    await previewWithPolicies(opened.stack, { config, backup, onOutput });
    return "No mandatory rule is broken.";
  } finally {
    await opened.close();
  }
}

try {
  const ending = await main(await readOptions(process.argv.slice(2)));
  process.stdout.write(`${ending}\n`);
  process.exit();
} catch (error) {
  say(
    `${process.argv.includes("--publish-dir") ? "The pack was not made" : "The preview was stopped"}: ${causeOf(error)}`,
  );
  process.exit(1);
}
