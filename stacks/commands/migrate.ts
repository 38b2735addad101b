import "./late-modules.ts";
import { commandLine, commandsFor } from "../../infra/shell/package.ts";
import { Argument } from "commander";
import { type CommandOutput, commandParser, runCommand } from "../../infra/shell/command.ts";
import { migrate, type MigrateOptions } from "./migrate/migrate.ts";

const SCRIPT = commandLine("migrate");
const NOT_ACCEPTED = 2;

async function main(argv: string[], { say, log, report }: CommandOutput): Promise<number> {
  const { stack, ...options } = readOptions(argv);
  const commands = commandsFor(stack);
  const { file, ...result } = await migrate(stack, { ...options, say, log });
  const { plan, workerName, tag, accepted } = result;
  say(`\n${plan.join("\n")}\n\n`);
  if (accepted) say(`Written to ${file}. To deploy: ${commands.pulumi("up")}\n`);
  else {
    const words = ["--worker-name", workerName, "--accept-migration", `${tag}`];
    say(`Nothing was changed. To accept: ${commands.script("migrate", ...words)}\n`);
  }
  report({ ok: true, ...result });
  return accepted ? 0 : NOT_ACCEPTED;
}

function readOptions(argv: readonly string[]): MigrateOptions & { stack: string } {
  const command = commandParser(SCRIPT, "Renames a stack's Worker and adds the migration that this requires.")
    .addArgument(new Argument("<stack>", "a serverless stack in the backend that Pulumi is logged in to"))
    .requiredOption("--worker-name <name>", "the new name")
    .option(
      "--accept-migration <tag>",
      "write the change to the stack's settings; needs the tag that the preview shows",
    )
    .option("--json", "print one JSON object", false)
    .addHelpText(
      "after",
      "\nExit codes: 0 change written, 2 approval needed or invalid arguments, 1 any other failure.",
    )
    .parse(argv, { from: "user" });
  const [stack] = command.processedArgs as [string];
  const { workerName, acceptMigration } = command.opts<{ workerName: string; acceptMigration?: string }>();
  return { stack, workerName, accept: acceptMigration };
}

await runCommand(SCRIPT, main);
