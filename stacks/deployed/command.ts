import type { WriteStream } from "node:tty";
import { CommanderError } from "commander";
import { ERRORS, StewardError } from "../../runtime/contract/errors.ts";
import { causeOf } from "../rehearsal/cause.ts";

/** Where a command tells what it does. With `--json` standard output has one object, and people read standard error. */
export interface Telling {
  say: (text: string) => void;
  /** Where that goes, if it is a terminal. */
  terminal: WriteStream | undefined;
  /** The result for programs; nothing without `--json`. */
  report: (result: object) => void;
}

/**
 * Runs a command on a deployed stack to its end and ends the process, with the exit code that `main`
 * returns; 1 where it throws, with the cause and its fix.
 */
export async function runCommand(
  main: (argv: string[], telling: Telling) => Promise<number>,
): Promise<never> {
  const argv = process.argv.slice(2);
  const json = argv.includes("--json");
  const out = json ? process.stderr : process.stdout;
  const telling: Telling = {
    say: (text) => void out.write(text),
    terminal: out.isTTY ? out : undefined,
    report: (result) => void (json && process.stdout.write(`${JSON.stringify(result)}\n`)),
  };
  return process.exit(await main(argv, telling).catch((error: unknown) => told(error, telling)));
}

function told(error: unknown, { report }: Telling): number {
  // The help that was asked for is printed already, and so is what is wrong with the words.
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  const code = error instanceof StewardError ? error.code : undefined;
  const cause = causeOf(error);
  // A report of all problems tells each one's own fix.
  const fix = code === undefined || code === "stack_config_invalid" ? undefined : ERRORS[code].fix;
  process.stderr.write(`${fix === undefined ? cause : `${cause} Fix: ${fix}`}\n`);
  report({ ok: false, code, cause, fix });
  return 1;
}
