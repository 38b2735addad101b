import "./late-modules.ts";
import { Argument } from "commander";
import { commandParser, runCommand, usageError, type CommandOutput } from "../../infra/shell/command.ts";
import { commandLine } from "../../infra/shell/package.ts";
import { askForYes } from "./rollout/confirm.ts";
import { EXIT } from "./rollout/options.ts";
import { upgrade, type UpgradeOptions } from "./upgrade/upgrade.ts";

const SCRIPT = commandLine("upgrade");

async function main(argv: string[], { report, ...output }: CommandOutput): Promise<number> {
  const { stack, ...options } = readOptions(argv);
  const confirm = (): Promise<true | string> => askForYes("Upgrade?");
  const result = await upgrade(stack, { ...options, ...output, confirm });
  report({ ok: result.exit === EXIT.done, ...result });
  return result.exit;
}

function readOptions(argv: readonly string[]): UpgradeOptions & { stack: string } {
  const command = commandParser(
    SCRIPT,
    "Previews a stack with a newer version of the package, deploys it, and goes back if it does not answer.",
  )
    .addArgument(new Argument("<stack>", "a stack of the backend that pulumi is logged in to"))
    .option("--to <version>", "this version (default: the newest at npm's registry)")
    .option("--check", "report the versions and changes, and end", false)
    .option("--propose <folder>", "write preview, package.json and lock for a pull request, and end")
    .option("--unattended", "deploy a patch version within the window that package.json names", false)
    .option("--yes", "skip confirmation", false)
    .option("--accept-migration <tag>", "this migration may be applied, as v2")
    .option("--accept-replay", "the new version may read past events otherwise", false)
    .option("--without-trial", "do not start the new version on a copy of a host's data first", false)
    .option("--without-backup", "make none before the update", false)
    .option("--config <file>", "a policy configuration: the levels and values of the rules")
    .option("--json", "print one JSON object", false)
    .addHelpText(
      "after",
      "\nExit codes: 0 deployed or nothing newer; 2 if approval is needed, with --check if there is a newer version," +
        "\nor wrong words; 3 a policy is broken; 4 it failed and the former version answers; 5 it failed otherwise;" +
        "\n1 it has not begun.",
    )
    .parse(argv, { from: "user" });
  const [stack] = command.processedArgs as [string];
  const { acceptMigration, ...words } = command.opts<UpgradeOptions & { acceptMigration?: string }>();
  const modes = [words.check, words.propose !== undefined, words.unattended].filter(Boolean);
  if (modes.length > 1) throw usageError("give one of --check, --propose and --unattended");
  return { stack, accept: acceptMigration, ...words };
}

await runCommand(SCRIPT, main);
