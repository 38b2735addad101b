import type { Handler } from "hono";
import { CONTROL_ROUTES, type CliRequest, type CliResult } from "../contract/control.ts";
import { readOperation, splitWords } from "../contract/operations.ts";
import { problemResponse, type Problem } from "../contract/problem.ts";
import { sendProblem } from "./problems.ts";
import type { Sandbox } from "./ports.ts";

/**
 * `GET /debug/cli?cmd=`: runs one line of the allow-list in the container, with the gateway up or down;
 * starts a stopped container. The line is checked before, so that a wrong one wakes nothing.
 */
export function debugCli(sandbox: Sandbox): Handler {
  return async function handleCli(context) {
    const command = context.req.query("cmd") ?? "";
    const words = splitWords(command);
    readOperation(words);
    const body = JSON.stringify({ words } satisfies CliRequest);
    const response = await sandbox.request("supervisor", { method: "POST", path: CONTROL_ROUTES.cli, body });
    if (response.status === 400) return problemResponse((await response.json()) as Problem);
    if (!response.ok)
      return sendProblem("gateway_unavailable", "The container's supervisor does not answer.");
    // An answer out of a cache would stand for a command that was not run.
    context.header("cache-control", "no-store");
    return context.json({ command, ...((await response.json()) as CliResult) });
  };
}
