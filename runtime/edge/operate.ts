import { within } from "../shared/within.ts";
import { parseJson } from "../shared/json.ts";
import * as z from "zod/mini";
import { type CliRequest, type CliResult, CONTROL_ROUTES } from "../contract/control.ts";
import { withJson } from "../contract/operations.ts";
import { ERRORS, isErrorCode, reason, type Reason, StewardError } from "../contract/errors.ts";
import type { Problem } from "../contract/problem.ts";
import type { PortRequest, Sandbox } from "./ports.ts";

/** Status of a container whose main process is silent. */
export const NO_SUPERVISOR = "The container's supervisor does not answer.";

/** Refusals that are the supervisor's own, and not a failure of it. */
const REFUSALS: readonly number[] = [ERRORS.command_not_allowed.status, ERRORS.commands_busy.status];

/** Answer of the command line with `--json` where it fails. */
const failureSchema = () => z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/**
 * Asks the supervisor; starts a stopped container.
 *
 * @throws StewardError `gateway_unavailable` where it does not answer.
 */
export async function askSupervisor(sandbox: Sandbox, request: PortRequest): Promise<Response> {
  try {
    return await sandbox.request("supervisor", request);
  } catch (error) {
    throw new StewardError("gateway_unavailable", NO_SUPERVISOR, { cause: error });
  }
}

/**
 * Returns the container as a page sees it that only looks: what it asks starts nothing and is no use, so that a page
 * which is left open keeps no container awake.
 */
export function looking(sandbox: Sandbox): Sandbox {
  return {
    ...sandbox,
    request: async (port, request) => {
      const answer = await sandbox.peek(request, port);
      if (answer === undefined) throw new StewardError("gateway_unavailable", NO_SUPERVISOR);
      return answer;
    },
  };
}

/**
 * Runs an operation of contract/operations.ts in the container, with the gateway up or down; starts a
 * stopped container.
 *
 * @throws StewardError the supervisor's refusal, or `gateway_unavailable` where it does not answer.
 */
export async function operate(sandbox: Sandbox, words: string[]): Promise<CliResult> {
  const request: CliRequest = { words };
  const body = JSON.stringify(request);
  const response = await askSupervisor(sandbox, { method: "POST", path: CONTROL_ROUTES.cli, body });
  if (REFUSALS.includes(response.status)) {
    const { code, detail } = (await response.json()) as Problem;
    throw new StewardError(code, detail);
  }
  if (!response.ok) throw new StewardError("gateway_unavailable", NO_SUPERVISOR);
  return (await response.json()) as CliResult;
}

/**
 * Runs a command with `--json` and reads its answer.
 *
 * @throws StewardError what {@link operate} throws, the command's own error, or `command_failed` for an
 * answer of another form.
 */
export async function operateJson<T>(
  sandbox: Sandbox,
  words: string[],
  schema: z.ZodMiniType<T>,
): Promise<T> {
  const { exitCode, stdout } = await operate(sandbox, withJson(words));
  const value = parseJson(stdout);
  const failure = failureSchema().safeParse(value);
  if (failure.success && isErrorCode(failure.data.error.code)) {
    throw new StewardError(failure.data.error.code, failure.data.error.message);
  }
  const answer = schema.safeParse(value);
  if (exitCode !== 0 || !answer.success) throw new StewardError("command_failed");
  return answer.data;
}

/** Waits for `work` for at most so many milliseconds: a page must not wait for a container that hangs. */
export function inTime<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  return within(milliseconds, work, () => new StewardError("command_timed_out"));
}

/** Outcome of an attempt: a value, or the reason why there is none. */
export interface Attempt<T> {
  value?: T;
  problem?: Reason;
}

/** Waits for `work` within a limit. Never rejects: a page shows the reason in the value's place. */
export async function attempt<T>(milliseconds: number, work: Promise<T>): Promise<Attempt<T>> {
  try {
    return { value: await inTime(milliseconds, work) };
  } catch (error) {
    return { problem: error instanceof StewardError ? error.reason : reason("gateway_unavailable") };
  }
}
