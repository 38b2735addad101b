import { PassThrough } from "node:stream";
import { processOutput } from "../../../runtime/gateway/cli/context.ts";
import { runCommandLine } from "../../../runtime/gateway/cli/program.ts";
import { readProcessSettings } from "../../../runtime/process/settings.ts";
import { createRedactor } from "../../../runtime/shared/redact.ts";
import { programOf, startNode } from "./processes.ts";

/** Runs `steward <args>` to its end, in a process of its own. */
export async function steward(environment: Record<string, string>, ...args: string[]) {
  const run = startNode([programOf("gateway/cli/main.ts"), ...args], environment);
  const code = await run.exited;
  return { code, stdout: run.stdout(), stderr: run.stderr() };
}

/**
 * Runs `steward <args>` in this process, as `runtime/gateway/cli/main.ts` does in its own. A process takes a tenth of a
 * second of a processor, so tests of many lines use this one.
 */
export function stewardHere(environment: Record<string, string>, ...args: string[]) {
  return runHere(environment, args, new PassThrough());
}

/** Runs `steward <args>` in this process, as at a terminal without colours. */
export function stewardAtTerminal(environment: Record<string, string>, ...args: string[]) {
  const terminal = Object.assign(new PassThrough(), { isTTY: true, getColorDepth: () => 1 });
  return runHere(environment, args, terminal);
}

async function runHere(environment: Record<string, string>, args: string[], stdout: PassThrough) {
  const stderr = new PassThrough();
  const redact = createRedactor(environment);
  const output = processOutput({ stdout, stderr, redact });
  let code = 0;
  const setExitCode = (given: number): void => void (code = given);
  try {
    const settings = readProcessSettings(environment);
    await runCommandLine({ environment, settings, redact, output, clock: Date.now, setExitCode }, args);
  } catch (error) {
    output.fail(args.includes("--json"), error);
    code = 1;
  }
  return { code, stdout: String(stdout.read() ?? ""), stderr: String(stderr.read() ?? "") };
}
