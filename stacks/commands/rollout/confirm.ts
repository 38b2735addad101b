import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { printError } from "../../../runtime/shared/terminal.ts";

/**
 * Asks for confirmation at the terminal.
 *
 * @returns `true` if the user typed yes, otherwise the reason for stopping.
 */
export async function askForYes(question: string): Promise<true | string> {
  if (!process.stdin.isTTY) return "cannot ask for confirmation without a terminal";
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // Ctrl-C rejects the question's promise. Ctrl-D leaves it pending and only closes the terminal.
    const left = once(terminal, "close").then(() => "\n");
    const asked = terminal.question(`${question} Type yes to start: `).catch(() => "\n");
    const answer = await Promise.race([asked, left]);
    if (answer === "yes") return true;
    if (answer === "\n") printError(answer);
    return "the rollout was not confirmed, so nothing was changed";
  } finally {
    terminal.close();
  }
}
