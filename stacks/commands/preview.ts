import "./late-modules.ts";
import { commandLine } from "../../infra/shell/package.ts";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { Argument } from "commander";
import { causeOf } from "../../infra/shell/failure.ts";
import { type CommandOutput, commandParser, runCommand } from "../../infra/shell/command.ts";
import { LAST_BACKUP, POLICY_CONFIG, readPolicyConfig } from "./policies/options.ts";
import { failedPreview, preview } from "./preview/preview.ts";
import { EXIT } from "./rollout/options.ts";

const SCRIPT = commandLine("preview");

async function main(argv: string[], output: CommandOutput): Promise<number> {
  const command = commandParser(
    SCRIPT,
    "Previews a stack, checks it against the policies and writes the result as Markdown. Changes nothing.",
  )
    .addArgument(new Argument("<stack>", "a stack in the backend that Pulumi is logged in to"))
    .option("--out <file>", "output file (default: .steward/previews/<stack>.md)")
    .addOption(POLICY_CONFIG)
    .addOption(LAST_BACKUP)
    .option("--json", "print one JSON object", false)
    .addHelpText(
      "after",
      "\nExit codes: 0 done, 3 a mandatory policy is violated, 2 invalid arguments, 1 any other failure.",
    )
    .parse(argv, { from: "user" });
  const [stack] = command.processedArgs as [string];
  const words = command.opts<{ out?: string; config?: string; backup?: string }>();
  const file = words.out ?? path.join(".steward/previews", `${stack}.md`);
  const write = async (text: string): Promise<void> => {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  };

  const options = { ...(await readPolicyConfig(words)), ...output };
  const { markdown, ...plan } = await preview(stack, options).catch(async (error: unknown) => {
    await write(failedPreview(stack, causeOf(error)));
    throw error;
  });
  await write(markdown);
  output.say(`\n${plan.summary}\nWritten to ${file}\n`);
  const exit = plan.broken.length === 0 ? EXIT.done : EXIT.refused;
  output.report({ ok: exit === EXIT.done, exit, ...plan });
  return exit;
}

await runCommand(SCRIPT, main);
