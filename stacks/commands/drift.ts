/**
 * `npm run drift`: shows what in a stack is no longer as it was deployed. Changes nothing.
 * See `npm run drift -- --help`.
 */
import "./late-modules.ts";
import { commandLine, commandsFor } from "../../infra/shell/package.ts";
import type { EngineEvent, Stack } from "@pulumi/pulumi/automation/index.js";
import { Argument } from "commander";
import { StewardError } from "../../runtime/contract/errors.ts";
import { commandParser, runCommand, type CommandOutput } from "../../infra/shell/command.ts";
import { messageOf, openDeployed } from "./deployed/stack.ts";
import { driftOf, type Drift } from "./drift/find.ts";

const SCRIPT = commandLine("drift");
const SOME_FOUND = 2;

async function main(argv: string[], { say, log, report }: CommandOutput): Promise<number> {
  const command = commandParser(
    SCRIPT,
    "Compares what a stack has deployed with what is there now. Changes nothing.",
  )
    .addArgument(new Argument("<stack>", "a stack of the backend that pulumi is logged in to"))
    .option("--json", "print one JSON object", false)
    .addHelpText(
      "after",
      "\nExit codes: 0 no drift, 2 drift or wrong words, 1 any other failure, such as a stack that was never deployed." +
        "\nSecrets cannot be read back: of Telegram's webhook secret and the Worker's secrets no drift is found.",
    )
    .parse(argv, { from: "user" });
  const [name] = command.processedArgs as [string];
  const { stack, state } = await openDeployed(name, { runsProgram: true, log });
  // An empty state has no differences, so a stack that was never deployed would seem free of drift.
  if ((await state()).resources.length === 0) throw new StewardError("stack_not_deployed");
  const { drift, remarks } = await findDrift(stack);
  for (const remark of remarks) say(`${remark}\n`);
  say(drift.length === 0 ? "No drift.\n" : `${drift.map(describe).join("\n")}\n${remedy(name)}\n`);
  report({ ok: true, drift, remarks });
  return drift.length === 0 ? 0 : SOME_FOUND;
}

/**
 * Asks every provider what is there now, and leaves the stack's state as it is. Other messages are returned as remarks,
 * such as that a provider could not look.
 */
async function findDrift(stack: Stack): Promise<{ drift: Drift[]; remarks: string[] }> {
  const drift: Drift[] = [];
  const remarks = new Set<string>();
  const onEvent = (event: EngineEvent): void => {
    drift.push(...driftOf(event));
    const text = messageOf(event)?.trim();
    if (text) remarks.add(text);
  };
  await stack.previewRefresh({ color: "never", onEvent });
  return { drift, remarks: [...remarks] };
}

function describe({ type, name, what, properties }: Drift): string {
  return `${what}: ${name} (${type})${properties.length === 0 ? "" : `: ${properties.join(", ")}`}`;
}

function remedy(stack: string): string {
  return `To put it back: ${commandsFor(stack).pulumi("up", "--refresh")}`;
}

await runCommand(SCRIPT, main);
