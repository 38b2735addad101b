import type { Handler } from "hono";
import { CONTROL_ROUTES, type CliRequest, type CliResult } from "../contract/control.ts";
import { ERRORS, StewardError } from "../contract/errors.ts";
import type { Log } from "../contract/log.ts";
import { readOperation, splitWords } from "../contract/operations.ts";
import { problemResponse, type Problem } from "../contract/problem.ts";
import type { AccessVariables } from "./access.ts";
import type { Sandbox } from "./ports.ts";

const NO_SUPERVISOR = "The container's supervisor does not answer.";

/** Refusals that are the supervisor's own, and not a failure of it. */
const REFUSALS: readonly number[] = [ERRORS.command_not_allowed.status, ERRORS.commands_busy.status];

/**
 * `GET /debug/cli?cmd=`: runs one line of the allow-list in the container, with the gateway up or down;
 * starts a stopped container. The line is checked before, so that a wrong one wakes nothing.
 */
export function debugCli(sandbox: Sandbox, log: Log): Handler<AccessVariables> {
  return async function handleCli(context) {
    const command = context.req.query("cmd") ?? "";
    const words = splitWords(command);
    readOperation(words);
    const by = context.get("identity").name;
    log.info("operator runs a command", { by, command });
    const response = await askSupervisor(sandbox, { words });
    if (REFUSALS.includes(response.status)) return problemResponse((await response.json()) as Problem);
    if (!response.ok) throw new StewardError("gateway_unavailable", NO_SUPERVISOR);
    // An answer out of a cache would stand for a command that was not run.
    context.header("cache-control", "no-store");
    return context.json({ command, ...((await response.json()) as CliResult) });
  };
}

async function askSupervisor(sandbox: Sandbox, request: CliRequest): Promise<Response> {
  const body = JSON.stringify(request);
  try {
    return await sandbox.request("supervisor", { method: "POST", path: CONTROL_ROUTES.cli, body });
  } catch (error) {
    throw new StewardError("gateway_unavailable", NO_SUPERVISOR, { cause: error });
  }
}
