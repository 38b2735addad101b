import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestStack } from "./stack.ts";

const LONGEST_MS = 480_000;

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
  said: string;
  /** JSON from the last line, or empty. */
  report: Record<string, unknown>;
}

/** Runs a script of `stacks/commands/` as `npm run` does. */
export function stackCommand(subject: TestStack, script: string, ...words: string[]): Promise<Ended> {
  return startStackCommand(subject, script, ...words).ended;
}

export function terminalCommand(subject: TestStack, script: string, ...words: string[]): Promise<Ended> {
  return startTerminalCommand(subject, script, ...words).ended;
}

/** A test types by writing to the child's standard input. */
export function startTerminalCommand(subject: TestStack, script: string, ...words: string[]) {
  const command = [process.execPath, resolve("stacks/commands", script), ...words];
  // Without `exec`, the shell's exit code would replace the command's after Ctrl-C.
  const line = `exec ${command.map((word) => `'${word}'`).join(" ")}`;
  return start(subject, "script", ["--quiet", "--return", "--command", line, "/dev/null"]);
}

export function startStackCommand(subject: TestStack, script: string, ...words: string[]) {
  // A large young generation in V8's heap saves such a short process a sixth of its time.
  return start(subject, process.execPath, [
    "--min-semi-space-size=16",
    resolve("stacks/commands", script),
    ...words,
  ]);
}

function start({ folder, environment }: TestStack, program: string, words: string[]) {
  const child = spawn(program, words, { cwd: folder, env: { ...process.env, ...environment } });
  const so: Ended = { code: null, stdout: "", stderr: "", said: "", report: {} };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].on("data", (chunk: Buffer) => {
      so[name] += chunk.toString();
      so.said += chunk.toString();
    });
  }
  const signal = AbortSignal.timeout(LONGEST_MS);
  const closed = once(child, "close", { signal }).catch(() => {
    const state =
      child.exitCode === null ? "does not end" : `ended with ${child.exitCode}, its output did not`;
    child.kill("SIGKILL");
    throw new Error(`${words.join(" ")} ${state}. It said:\n${so.said}`);
  });
  const ended = closed.then(([code]): Ended => {
    const last = so.stdout.trimEnd().split("\n").at(-1) ?? "";
    return { ...so, code, ...(last.startsWith("{") && { report: JSON.parse(last) as Ended["report"] }) };
  });
  return {
    child,
    ended,
    async says(text: string): Promise<void> {
      while (!so.said.includes(text)) {
        if (child.exitCode !== null) throw new Error(`it ended without saying "${text}"\n${so.said}`);
        await sleep(20);
      }
    },
  };
}
