import "./late-modules.ts";
import { Argument } from "commander";
import { commandParser, runCommand, usageError, type CommandOutput } from "../../infra/shell/command.ts";
import { commandLine } from "../../infra/shell/package.ts";
import { askForYes } from "./rollout/confirm.ts";
import { POLICY_CONFIG } from "./policies/options.ts";
import { ACCEPT_MIGRATION, ACCEPT_REPLAY, EXIT, WITHOUT_BACKUP } from "./rollout/options.ts";
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
    "Previews a stack with a newer version of the package, deploys it, and rolls back if it does not answer.",
  )
    .addArgument(new Argument("<stack>", "a stack in the backend that Pulumi is logged in to"))
    .option("--to <version>", "version to deploy (default: the newest in npm's registry)")
    .option("--check", "only report versions and changes", false)
    .option(
      "--propose <folder>",
      "write the preview, package.json and package-lock.json for a pull request, without deploying",
    )
    .option(
      "--unattended",
      "deploy without asking, but only patch versions and only during the hours set in package.json",
      false,
    )
    .option("--yes", "skip confirmation", false)
    .addOption(ACCEPT_MIGRATION)
    .addOption(ACCEPT_REPLAY)
    .option("--without-trial", "for a host stack, skip trying the new version on a copy of its data", false)
    .addOption(WITHOUT_BACKUP)
    .addOption(POLICY_CONFIG)
    .option("--json", "print one JSON object", false)
    .addHelpText(
      "after",
      "\nExit codes: 0 deployed, or nothing newer; 2 approval needed, newer version available (with --check)," +
        "\nor invalid arguments; 3 policy violated; 4 upgrade failed, rolled back; 5 upgrade failed, not rolled back;" +
        "\n1 upgrade not started.",
    )
    .parse(argv, { from: "user" });
  const [stack] = command.processedArgs as [string];
  const { acceptMigration, ...words } = command.opts<UpgradeOptions & { acceptMigration?: string }>();
  const modes = [words.check, words.propose !== undefined, words.unattended].filter(Boolean);
  if (modes.length > 1) throw usageError("give only one of --check, --propose and --unattended");
  return { stack, accept: acceptMigration, ...words };
}

await runCommand(SCRIPT, main);
