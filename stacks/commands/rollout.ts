/**
 * `npm run rollout`: an update that a pipeline may run. Makes a preview that applies the policies, stops if it shows
 * something that nobody has accepted, deploys, and goes back if the new version does not answer. For its options, see
 * `npm run rollout -- --help`.
 */
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
