import { fileURLToPath } from "node:url";
import { startNode } from "./processes.ts";

const MAIN = fileURLToPath(new URL("../../../runtime/gateway/cli/main.ts", import.meta.url));

/** Runs `steward <args>` to its end. */
export async function steward(environment: Record<string, string>, ...args: string[]) {
  const run = startNode([MAIN, ...args], environment);
  const code = await run.exited;
  return { code, stdout: run.stdout(), stderr: run.stderr() };
}
