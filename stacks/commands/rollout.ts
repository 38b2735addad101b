import "./late-modules.ts";
import { runCommand, type CommandOutput } from "../../infra/shell/command.ts";
import { askForYes } from "./rollout/confirm.ts";
import { EXIT, readOptions, SCRIPT } from "./rollout/options.ts";
import { rollout } from "./rollout/rollout.ts";

async function main(argv: string[], { report, ...output }: CommandOutput): Promise<number> {
  const { stack, ...options } = await readOptions(argv);
  const { plan, ...result } = await rollout(stack, {
    ...options,
    ...output,
    confirm: () => askForYes("Roll out?"),
  });
  report({ ok: result.exit === EXIT.done, ...plan, ...result });
  return result.exit;
}

await runCommand(SCRIPT, main);
