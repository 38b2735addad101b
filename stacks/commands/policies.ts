/**
 * `npm run policies`: the policy pack on the preview of a stack, which changes nothing. Ends with 1 if a mandatory
 * rule is broken. With `--publish-dir` the pack alone. See `npm run policies -- --help`.
 */
import { Argument } from "commander";
import { commandParser, runCommand, usageError, type CommandOutput } from "../../infra/shell/command.ts";
import { openDeployed } from "./deployed/stack.ts";
import { readPolicyConfig } from "./policies/options.ts";
import { previewWithPolicies } from "./policies/preview.ts";
import { preparePublication } from "./policies/publish.ts";

const SCRIPT = "npm run policies --";

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
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  if (name === undefined) {
    say(`${await preparePublication(words.publishDir ?? "", log)}\n`);
    return 0;
  }
  const { config, backup } = await readPolicyConfig(words);
  const stack = await openDeployed(name, { runsProgram: true, log });
  await previewWithPolicies(stack, { config, backup, onOutput: say });
  say("No mandatory rule is broken.\n");
  return 0;
}

await runCommand(SCRIPT, main);
