/**
 * `npm run drift`: what of a stack is no longer as it was deployed. Changes nothing. See
 * `npm run drift -- --help`.
 */
import { runCommand, type Telling } from "./deployed/command.ts";
import { openDeployed, WHATEVER_TARGET } from "./deployed/stack.ts";
import { findDrift, type Drift } from "./drift/find.ts";
import { readOptions } from "./drift/options.ts";

const SOME_FOUND = 2;

async function main(argv: string[], { say, report }: Telling): Promise<number> {
  const { stack: name } = readOptions(argv);
  const { stack, close } = await openDeployed(name, { ...WHATEVER_TARGET, log: (line) => say(`${line}\n`) });
  try {
    const drift = await findDrift(stack, say);
    say(drift.length === 0 ? "No drift.\n" : `${drift.map(describe).join("\n")}\n${remedy(name)}\n`);
    report({ ok: true, drift });
    return drift.length === 0 ? 0 : SOME_FOUND;
  } finally {
    await close();
  }
}

function describe({ type, name, what, properties }: Drift): string {
  return `${what}: ${name} (${type})${properties.length === 0 ? "" : `: ${properties.join(", ")}`}`;
}

function remedy(stack: string): string {
  return `To put it back: pulumi up -s ${stack} --refresh`;
}

await runCommand(main);
