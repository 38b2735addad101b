/**
 * `npm run drift`: what of a stack is no longer as it was deployed. Changes nothing. See `npm run drift -- --help`.
 */
import { commandLine } from "../../infra/shell/package.ts";
import type { EngineEvent, Stack } from "@pulumi/pulumi/automation/index.js";
import { Argument } from "commander";
import { commandParser, runCommand, type CommandOutput } from "../../infra/shell/command.ts";
import { openDeployed } from "./deployed/stack.ts";
import { driftOf, type Drift } from "./drift/find.ts";

const SCRIPT = commandLine("drift");
const SOME_FOUND = 2;

async function main(argv: string[], { say, report }: CommandOutput): Promise<number> {
  const command = commandParser(
    SCRIPT,
    "Compares what a stack has deployed with what is there now. Changes nothing.",
  )
    .addArgument(new Argument("<stack>", "a stack of the backend that pulumi is logged in to"))
    .option("--json", "print one JSON object", false)
    .addHelpText("after", "\nExit codes: 0 no drift, 2 drift or wrong words, 1 any other failure.")
    .parse(argv, { from: "user" });
  const [name] = command.processedArgs as [string];
  const { stack } = await openDeployed(name, { runsProgram: true, log: (line) => say(`${line}\n`) });
  const drift = await findDrift(stack, say);
  say(drift.length === 0 ? "No drift.\n" : `${drift.map(describe).join("\n")}\n${remedy(name)}\n`);
  report({ ok: true, drift });
  return drift.length === 0 ? 0 : SOME_FOUND;
}

/** Asks every provider what is there now. The stack's state stays as it is. */
async function findDrift(stack: Stack, onOutput: (text: string) => void): Promise<Drift[]> {
  const found: Drift[] = [];
  const onEvent = (event: EngineEvent): void => void found.push(...driftOf(event));
  await stack.previewRefresh({ color: "never", onOutput, onEvent });
  return found;
}

function describe({ type, name, what, properties }: Drift): string {
  return `${what}: ${name} (${type})${properties.length === 0 ? "" : `: ${properties.join(", ")}`}`;
}

function remedy(stack: string): string {
  return `To put it back: pulumi up -s ${stack} --refresh`;
}

await runCommand(SCRIPT, main);
