import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { PASSPHRASE, type TestStack } from "./stack.ts";

/** How a command on a stack ended. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
  /** All of both, as it came. */
  said: string;
  /** The last line of standard output, where it is JSON. */
  report: Record<string, unknown>;
}

/** Runs a script of `stacks/` in the stack's own project folder, as `npm run` has it. */
export async function stackCommand(
  { folder }: TestStack,
  script: string,
  ...words: string[]
): Promise<Ended> {
  const env = {
    ...process.env,
    PULUMI_CONFIG_PASSPHRASE: PASSPHRASE,
    PULUMI_BACKEND_URL: `file://${join(folder, "state")}`,
  };
  const child = spawn(process.execPath, [resolve("stacks", script), ...words], { cwd: folder, env });
  const ended: Ended = { code: null, stdout: "", stderr: "", said: "", report: {} };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].on("data", (chunk: Buffer) => {
      ended[name] += chunk.toString();
      ended.said += chunk.toString();
    });
  }
  [ended.code] = (await once(child, "close")) as [number | null];
  const last = ended.stdout.trimEnd().split("\n").at(-1) ?? "";
  if (last.startsWith("{")) ended.report = JSON.parse(last) as Ended["report"];
  return ended;
}
