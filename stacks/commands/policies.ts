import "./late-modules.ts";
import { commandLine, commandsFor } from "../../infra/shell/package.ts";
import { Argument } from "commander";
import { type CommandOutput, commandParser, runCommand, usageError } from "../../infra/shell/command.ts";
import { shellWord } from "../../runtime/contract/operator-commands.ts";
import { makePolicyPack, policies } from "./policies/check.ts";
import { LAST_BACKUP, POLICY_CONFIG, readPolicyConfig } from "./policies/options.ts";
import { mandatoryTexts } from "./policies/preview.ts";

const SCRIPT = commandLine("policies");

async function main(argv: string[], { say, log }: CommandOutput): Promise<number> {
  const command = commandParser(SCRIPT, "Runs the policy pack on a stack's preview. Nothing is changed.")
    .addArgument(new Argument("[stack]", "a stack in the backend that Pulumi is logged in to"))
    .addOption(POLICY_CONFIG)
    .addOption(LAST_BACKUP)
    .option(
      "--publish-dir <folder>",
      "build the policy pack and its dependencies in this folder, for publishing",
    )
    .parse(argv, { from: "user" });
  const [name] = command.processedArgs as [string | undefined];
  const words = command.opts<{ config?: string; backup?: string; publishDir?: string }>();
  if ((name === undefined) === (words.publishDir === undefined)) {
    throw usageError("give either a stack's name or --publish-dir");
  }
  if (name === undefined) {
    const target = await makePolicyPack(words.publishDir ?? "", { log });
    const publish = commandsFor().cli("policy", "publish", "<organization>");
    say(`The pack is in ${target}. To publish it: cd ${shellWord(target)} && ${publish}\n`);
    return 0;
  }
  const { violations } = await policies(name, { ...(await readPolicyConfig(words)), say, log });
  const broken = mandatoryTexts(violations);
  if (broken.length === 0) {
    say("No mandatory rule is broken.\n");
    return 0;
  }
  log(broken.join("\n"));
  return 1;
}

await runCommand(SCRIPT, main);
