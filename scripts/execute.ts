import { runProcess, type RunOptions, tail } from "../infra/shell/process.ts";

/** Runs a program and returns its standard output. If it fails, throws an error with the end of its output. */
export async function execute(program: string, words: string[], options: RunOptions = {}): Promise<string> {
  const finished = await runProcess(program, words, options);
  if (finished.code !== 0) throw new Error(`${program} ${words.join(" ")} failed: ${tail(finished)}`);
  return finished.stdout;
}
