import "./late-modules.ts";
import { commandLine, commandsFor } from "../../infra/shell/package.ts";
import { Argument } from "commander";
import { commandParser, runCommand, type CommandOutput } from "../../infra/shell/command.ts";
import { type Drift, drift } from "./drift/find.ts";

const SCRIPT = commandLine("drift");
const SOME_FOUND = 2;

async function main(argv: string[], { say, log, report }: CommandOutput): Promise<number> {
  const command = commandParser(
    SCRIPT,
    "Compares a stack's deployed resources with their current state. Changes nothing.",
  )
    .addArgument(new Argument("<stack>", "a stack in the backend that Pulumi is logged in to"))
    .option("--json", "print one JSON object", false)
    .addHelpText(
      "after",
      "\nExit codes: 0 no drift, 2 drift or invalid arguments, 1 any other failure, such as a stack that was never deployed." +
        "\nSecrets cannot be read back, so drift in Telegram's webhook secret and the Worker's secrets is not detected.",
    )
    .parse(argv, { from: "user" });
  const [name] = command.processedArgs as [string];
  const { drift: found, remarks } = await drift(name, { log });
  for (const remark of remarks) say(`${remark}\n`);
  say(found.length === 0 ? "No drift.\n" : `${found.map(describe).join("\n")}\n${remedy(name)}\n`);
  report({ ok: true, drift: found, remarks });
  return found.length === 0 ? 0 : SOME_FOUND;
}

function describe({ type, name, what, properties }: Drift): string {
  return `${what}: ${name} (${type})${properties.length === 0 ? "" : `: ${properties.join(", ")}`}`;
}

function remedy(stack: string): string {
  return `To undo the drift: ${commandsFor(stack).pulumi("up", "--refresh")}`;
}

await runCommand(SCRIPT, main);
