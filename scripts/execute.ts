import { runProcess, type RunOptions, tail } from "../infra/shell/process.ts";

/** Throws with the end of the output if the command fails. */
export async function execute(program: string, words: string[], options: RunOptions = {}): Promise<string> {
  const finished = await runProcess(program, words, options);
  if (finished.code !== 0) throw new Error(`${program} ${words.join(" ")} failed: ${tail(finished)}`);
  return finished.stdout;
}
