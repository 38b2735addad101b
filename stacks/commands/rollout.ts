/**
 * `npm run rollout`: an update that a pipeline may run. Makes a preview that applies the policies, stops if it shows
 * something that nobody has accepted, deploys, and goes back if the new version does not answer. For its options, see
 * `npm run rollout -- --help`.
 */
import "./late-modules.ts";
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { runCommand, type CommandOutput } from "../../infra/shell/command.ts";
import { printError } from "../../runtime/shared/terminal.ts";
import { EXIT, readOptions, SCRIPT } from "./rollout/options.ts";
import { rollout } from "./rollout/rollout.ts";

async function main(argv: string[], { report, ...output }: CommandOutput): Promise<number> {
  const { stack, ...options } = await readOptions(argv);
  const { plan, ...result } = await rollout(stack, { ...options, ...output, confirm: askForYes });
  report({ ok: result.exit === EXIT.done, ...plan, ...result });
  return result.exit;
}

/**
 * Asks whether to begin.
 *
 * @returns `true` after a yes, else why not
 */
async function askForYes(): Promise<true | string> {
  if (!process.stdin.isTTY) return "there is no terminal to confirm at";
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // Ctrl-C rejects the question's promise. Ctrl-D leaves it pending and only closes the terminal.
    const left = once(terminal, "close").then(() => "\n");
    const asked = terminal.question("Roll out? Only yes begins: ").catch(() => "\n");
    const answer = await Promise.race([asked, left]);
    if (answer === "yes") return true;
    // The cursor is still on the question's line: end the line.
    if (answer === "\n") printError(answer);
    return "nobody has confirmed it, so nothing was changed";
  } finally {
    terminal.close();
  }
}

await runCommand(SCRIPT, main);
