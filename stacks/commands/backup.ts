import "./late-modules.ts";
import { explain, explanationText } from "../../infra/shell/explain.ts";
import { commandLine, commandsFor } from "../../infra/shell/package.ts";
import { Argument } from "commander";
import { backups } from "./backup/backups.ts";
import type { StackBackups } from "./deployed/signed.ts";
import { commandParser, runCommand, type CommandOutput } from "../../infra/shell/command.ts";
import { StewardError } from "../../runtime/contract/errors.ts";

const SCRIPT = commandLine("backup");
const NOT_FINE = 2;

async function main(argv: string[], { say, log, report }: CommandOutput): Promise<number> {
  const command = commandParser(SCRIPT, "Lists a deployed stack's backups. Can also make or check one.")
    .addArgument(new Argument("<stack>", "a stack in the backend that Pulumi is logged in to"))
    .option("--create", "make a backup now, starting the container if it is stopped", false)
    .option("--verify", "unpack and check the newest backup, starting the container if it is stopped", false)
    .option("--gateway <name>", "component name, if your own Pulumi program has several gateways")
    .option("--json", "print one JSON object", false)
    .addHelpText(
      "after",
      "\nExit codes: 0 a backup exists, the last attempt succeeded and, with --verify, the newest one is complete;" +
        "\n1 the service could not be reached; 2 any other failure, or invalid arguments.",
    )
    .parse(argv, { from: "user" });
  const [name] = command.processedArgs as [string];
  const { create, verify, gateway } = command.opts<{ create: boolean; verify: boolean; gateway?: string }>();

  const service = await backups(name, { log, gateway });
  if (create) say(`Made ${(await service.create()).id}.\n`);
  const { backups: list, problem } = await service.list();
  for (const { id, createdAt } of list) say(`${id}  ${createdAt}\n`);
  const problems = [
    ...(list.length === 0 ? ["There is no backup."] : []),
    ...(problem === undefined ? [] : [`${problem.detail} (${problem.code})`]),
    ...(verify && list.length > 0 ? await verifyNewest(name, service, say) : []),
  ];
  say(problems.map((problem) => `${problem}\n`).join(""));
  report({ ok: problems.length === 0, backups: list, problems });
  return problems.length === 0 ? 0 : NOT_FINE;
}

async function verifyNewest(
  stack: string,
  service: StackBackups,
  say: CommandOutput["say"],
): Promise<string[]> {
  try {
    const { backup, report } = await service.verify();
    say(`${backup.id} is complete.\n`);
    return report.configProblems.map(({ path, message }) => `Config problem: ${path} ${message}`);
  } catch (error) {
    // Any other error means that the backup could not be checked.
    if (!(error instanceof StewardError) || error.code !== "backup_corrupt") throw error;
    return [explanationText(explain(error, commandsFor(stack)))];
  }
}

await runCommand(SCRIPT, main);
