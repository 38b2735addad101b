/**
 * `npm run policies`: runs the policy pack on the preview of a stack; changes nothing. Exits with 1 if a mandatory rule
 * is broken. With `--publish-dir` it only makes the pack. See `npm run policies -- --help`.
 */
import "./late-modules.ts";
import { commandLine, commandsFor } from "../../infra/shell/package.ts";
import { mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import { Argument } from "commander";
import { type CommandOutput, commandParser, runCommand, usageError } from "../../infra/shell/command.ts";
import { BuildFailure } from "../../infra/shell/failure.ts";
import { shellWord } from "../../runtime/contract/operator-commands.ts";
import { run, tail } from "../../infra/shell/process.ts";
import { buildPolicyPack } from "../../policies/build.ts";
import { engineOutput } from "./deployed/engine-output.ts";
import { openDeployed } from "./deployed/stack.ts";
import { readPolicyConfig } from "./policies/options.ts";
import { previewWithPolicies } from "./policies/preview.ts";
import { printError } from "../../runtime/shared/terminal.ts";

/** Files that an earlier run may have left in the folder; any other file is somebody's own. */
const PACK_FILES = new Set([
  "PulumiPolicy.yaml",
  "index.cjs",
  "package.json",
  "package-lock.json",
  "node_modules",
]);
const INSTALL = ["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];

const SCRIPT = commandLine("policies");

async function main(argv: string[], { say }: CommandOutput): Promise<number> {
  const command = commandParser(SCRIPT, "Runs the policy pack on a stack's preview. Nothing is changed.")
    .addArgument(new Argument("[stack]", "a stack of the backend that pulumi is logged in to"))
    .option("--config <file>", "a policy configuration: the levels and values of the rules")
    .option("--backup <time>", "when the last backup was taken, as ISO 8601")
    .option("--publish-dir <folder>", "make the pack in this folder with its packages, to be published")
    .parse(argv, { from: "user" });
  const [name] = command.processedArgs as [string | undefined];
  const words = command.opts<{ config?: string; backup?: string; publishDir?: string }>();
  if ((name === undefined) === (words.publishDir === undefined)) {
    throw usageError("give either a stack's name or --publish-dir");
  }
  const log = (line: string): void => printError(`${line}\n`);
  if (name === undefined) {
    say(`${await preparePublication(words.publishDir ?? "", log)}\n`);
    return 0;
  }
  const { config, backup } = await readPolicyConfig(words);
  const stack = await openDeployed(name, { runsProgram: true, log });
  const engine = engineOutput((line) => say(`${line}\n`));
  await previewWithPolicies(stack, { config, backup, onOutput: engine.onOutput }).finally(engine.end);
  say("No mandatory rule is broken.\n");
  return 0;
}

await runCommand(SCRIPT, main);

/**
 * Makes the policy pack in a folder, with its packages from the registry: it runs from wherever the folder is, and
 * `pulumi policy publish` takes it from there.
 *
 * @returns what to do with it, for people.
 */
async function preparePublication(folder: string, say: (line: string) => void): Promise<string> {
  const target = path.resolve(folder);
  await mkdir(target, { recursive: true });
  const foreign = (await readdir(target)).filter((name) => !PACK_FILES.has(name));
  if (foreign.length > 0) {
    throw usageError(`${folder} holds ${foreign.sort().join(", ")}; give a new or an empty folder`);
  }
  await buildPolicyPack(target);
  say("installing the pack's packages");
  const installed = await run("npm", INSTALL, { cwd: target });
  if (installed.code !== 0) {
    throw new BuildFailure(
      "policy_packages_missing",
      `npm install failed in ${folder}: ${tail(installed, 5)}`,
      "Run this once where the package registry can be reached.",
    );
  }
  return `The pack is in ${target}. To publish it: cd ${shellWord(target)} && ${commandsFor().cli("policy", "publish", "<organization>")}`;
}
