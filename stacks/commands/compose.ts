import "./late-modules.ts";
import { commandLine, commandsFor } from "../../infra/shell/package.ts";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { Argument } from "commander";
import { commandParser, runCommand, type CommandOutput } from "../../infra/shell/command.ts";
import { compose } from "./compose/compose.ts";

const SCRIPT = commandLine("compose");

async function main(argv: string[], { say, log }: CommandOutput): Promise<number> {
  const command = commandParser(
    SCRIPT,
    "Writes compose.yaml and .env.example for a host stack. Nothing is deployed.",
  )
    .addArgument(new Argument("<stack>", "the stack's name"))
    .option("--settings <folder>", "folder of Pulumi.<stack>.yaml (default: from Pulumi.yaml)")
    .option("--out <folder>", "output folder (default: .steward/compose/<stack>)")
    .parse(argv, { from: "user" });
  const [stack] = command.processedArgs as [string];
  const words = command.opts<{ settings?: string; out?: string }>();
  const { settings, out = path.join(".steward/compose", stack) } = words;
  const made = await compose(stack, { settings, log });
  await mkdir(out, { recursive: true });
  await writeFile(path.join(out, "compose.yaml"), made.compose);
  await writeFile(path.join(out, ".env.example"), made.environment);
  const file = path.join(out, "compose.yaml");
  say(`Wrote ${file} and .env.example with ${made.secrets.length} secrets to fill in.\n`);
  if (made.needsAdminToken) say("Also set ADMIN_TOKEN in .env, or the admin pages stay closed.\n");
  if (made.isBuilt)
    say(`Build ${made.image} on the engine that will run it: ${commandsFor().tool("image")}\n`);
  return 0;
}

await runCommand(SCRIPT, main);
