import "./late-modules.ts";
import { commandLine, commandsFor } from "../../infra/shell/package.ts";
import { Argument } from "commander";
import { commandParser, runCommand, type CommandOutput } from "../../infra/shell/command.ts";
import { type Orphan, orphans, removeOrphan } from "./orphans/orphans.ts";

const SCRIPT = commandLine("orphans");
const SOME_FOUND = 2;

async function main(argv: string[], { say, log, report }: CommandOutput): Promise<number> {
  const command = commandParser(
    SCRIPT,
    "Lists the container applications that deleted Workers have left in a stack's account.",
  )
    .addArgument(new Argument("<stack>", "a serverless stack in the backend that Pulumi is logged in to"))
    .option("--remove <id>", "remove this application, unless it is in use")
    .option("--json", "print one JSON object", false)
    .addHelpText(
      "after",
      "\nExit codes: 0 none found, or one removed; 2 some found, or invalid arguments; 1 any other failure.",
    )
    .parse(argv, { from: "user" });
  const [name] = command.processedArgs as [string];
  const { remove } = command.opts<{ remove?: string }>();

  if (remove !== undefined) {
    const removed = await removeOrphan(name, remove, { log });
    say(`Removed ${removed.name} (${removed.id}).\n`);
    report({ ok: true, removed });
    return 0;
  }
  const found = await orphans(name, { log });
  say(found.length === 0 ? "No orphans.\n" : found.map((one) => describe(name, one)).join(""));
  report({ ok: true, orphans: found });
  return found.length === 0 ? 0 : SOME_FOUND;
}

function describe(stack: string, { id, name, namespaceId }: Orphan): string {
  const remedy = commandsFor(stack).script("orphans", "--remove", id);
  return `${name}, which belongs to the deleted namespace ${namespaceId}\n  To remove it: ${remedy}\n`;
}

await runCommand(SCRIPT, main);
