import type { CliResult } from "../contract/control.ts";
import type { Environment } from "../contract/environment.ts";
import type { Redactor } from "../shared/redact.ts";
import { type ProcessUser, startChild } from "./child.ts";
import type { Timers } from "./timers.ts";

const TIME_LIMIT_MS = 20_000;
/** Exit code of coreutils' `timeout`. */
export const TIMED_OUT = 124;
/** Exit code of a shell that cannot start a program. */
const NOT_STARTED = 127;
/** Characters shown per stream. */
const SHOWN = 256 * 1024;
/** Number of characters to buffer for each stream: more than `SHOWN`, because redaction may shorten the text. */
const HELD = 2 * SHOWN;
export const CUT_NOTE = "[cut: the output is longer]\n";

interface CommandOptions {
  command: readonly [string, ...string[]];
  environment: Environment;
  user?: ProcessUser | undefined;
  input?: string;
  redact: Redactor;
  timers: Timers;
  /** Default 20 s. */
  timeLimitMs?: number;
}

/** Runs a program within limits of time and output, and redacts its output. Never rejects. */
export async function runBoundedCommand(options: CommandOptions): Promise<CliResult> {
  const { command, environment, user, input, redact, timers, timeLimitMs = TIME_LIMIT_MS } = options;
  const held = { stdout: "", stderr: "" };
  let late = false;
  const child = startChild({ command, environment, user, ...(input !== undefined && { input }) });
  child.read((stream, text) => (held[stream] += text.slice(0, HELD - held[stream].length)));
  const cancel = timers.after(timeLimitMs, () => {
    late = true;
    child.kill("SIGKILL");
  });
  const { code, signal, spawnError } = await child.exited;
  cancel();
  const shown = { stdout: show(held.stdout, redact), stderr: show(held.stderr, redact) };
  const ended = (exitCode: number, why: string): CliResult => ({
    ...shown,
    exitCode,
    stderr: `${shown.stderr}${why}\n`,
  });
  if (late)
    return ended(TIMED_OUT, `The command did not end within ${timeLimitMs / 1_000} s and was stopped.`);
  if (spawnError !== undefined) return ended(NOT_STARTED, `The command could not be started: ${spawnError}`);
  if (code === null) return ended(1, `The command was killed by ${signal}.`);
  return { exitCode: code, ...shown };
}

function show(text: string, redact: Redactor): string {
  // A cut line may end within a secret, which redaction would miss.
  const whole = text.length < HELD ? text : text.slice(0, text.lastIndexOf("\n") + 1);
  const clean = redact(whole);
  if (clean.length <= SHOWN && whole === text) return clean;
  return `${clean.slice(0, SHOWN)}\n${CUT_NOTE}`;
}
