import * as z from "zod/mini";
import { once } from "../shared/once.ts";
import { withTimeout } from "../shared/timeout.ts";
import { CONTROL_ROUTES, type OperationReply, type OperationRequest } from "../contract/control.ts";
import { ERRORS, isErrorCode, reason, type Reason, StewardError } from "../contract/errors.ts";
import type { Problem } from "../contract/problem.ts";
import { readReply } from "./container-answers.ts";
import type { Operation } from "../operations/operation.ts";
import type { NameDirectory, PortRequest, Sandbox, Sighting } from "./ports.ts";

export const NO_SUPERVISOR = "The container's supervisor does not answer.";
/** Error detail for a 404 from a container that a rollout has not replaced yet. */
const OLD_SUPERVISOR = "The container still runs an older version. The rollout replaces it within minutes.";

/** HTTP statuses with which the supervisor refuses an operation. Other error statuses mean a failed operation. */
const REFUSALS: readonly number[] = [ERRORS.command_not_allowed.status, ERRORS.commands_busy.status];

/**
 * Sends a request to the supervisor. Starts a stopped container.
 *
 * @throws StewardError `gateway_unavailable`, or `tenant_unknown` for a chat that is not admitted.
 */
export async function askSupervisor(
  sandbox: Pick<Sandbox, "request">,
  request: PortRequest,
): Promise<Response> {
  try {
    return await sandbox.request("supervisor", request);
  } catch (error) {
    // Rethrow this permanent error. Other failures may be temporary.
    if (error instanceof StewardError && error.code === "tenant_unknown") throw error;
    throw new StewardError("gateway_unavailable", NO_SUPERVISOR, { cause: error });
  }
}

/** Wraps a sandbox so that requests neither start the container nor keep the container awake. */
export function withoutWaking(sandbox: Sandbox): Sandbox {
  return {
    ...sandbox,
    request: async (port, request) => {
      const answer = await sandbox.peek(request, port);
      if (answer === undefined) throw new StewardError("gateway_unavailable", NO_SUPERVISOR);
      return answer;
    },
  };
}

const devicesReply = once(() => {
  const device = z.object({
    deviceId: z.string(),
    displayName: z.string(),
    approvedAtMs: z.number(),
    tokens: z.record(z.string(), z.object({ lastUsedAtMs: z.optional(z.number()) })),
  });
  return z.object({
    value: z.object({
      paired: z.optional(z.array(device)),
      approved: z.optional(device),
      granted: z.optional(device),
    }),
  });
});

/** Wraps a sandbox. Reads the browsers' names in the sandbox's responses and stores the names in the directory. */
export function withBrowserNames(sandbox: Sandbox, directory: Pick<NameDirectory, "noteNames">): Sandbox {
  const noted = async <Answer extends Response | undefined>(
    { path, body = "" }: PortRequest,
    response: Answer,
  ): Promise<Answer> => {
    if (path !== CONTROL_ROUTES.operations || !body.includes('"devices ') || !response?.ok) return response;
    const { value } =
      devicesReply().safeParse(
        await response
          .clone()
          .json()
          .catch(() => undefined),
      ).data ?? {};
    const { paired = [], approved, granted } = value ?? {};
    const sightings = [...paired, approved ?? [], granted ?? []].flat().map((device): Sighting => ({
      key: `web:${device.deviceId}`,
      kind: "browser",
      name: device.displayName,
      admitted: "browser",
      at: Math.max(device.approvedAtMs, ...Object.values(device.tokens).map((one) => one.lastUsedAtMs ?? 0)),
    }));
    // The operation has succeeded, so a failure to store the names must not fail it.
    if (sightings.length > 0) await directory.noteNames(sightings).catch(() => undefined);
    return response;
  };
  return {
    ...sandbox,
    request: async (port, request) => noted(request, await sandbox.request(port, request)),
    peek: async (request, port) => noted(request, await sandbox.peek(request, port)),
  };
}

/**
 * Runs an operation in the container, even if the gateway is down. Starts a stopped container.
 *
 * @throws StewardError the supervisor's refusal, or `gateway_unavailable`.
 */
export async function askOperation(
  sandbox: Pick<Sandbox, "request">,
  { name }: Pick<Operation, "name">,
  input: object,
): Promise<OperationReply> {
  const request: OperationRequest = { operation: name, input };
  const body = JSON.stringify(request);
  const response = await askSupervisor(sandbox, { method: "POST", path: CONTROL_ROUTES.operations, body });
  if (REFUSALS.includes(response.status)) {
    const { code, detail } = Object(await response.json().catch(() => undefined)) as Partial<Problem>;
    if (isErrorCode(code)) throw new StewardError(code, typeof detail === "string" ? detail : undefined);
  }
  if (response.status === 404) throw new StewardError("gateway_unavailable", OLD_SUPERVISOR);
  if (!response.ok) throw new StewardError("gateway_unavailable", NO_SUPERVISOR);
  return readReply(response);
}

/**
 * Runs an operation in the container and parses its result.
 *
 * @throws StewardError thrown by {@link askOperation} or reported by the operation; `command_failed` for a malformed
 * result.
 */
export async function operate<I extends object, O, T>(
  sandbox: Sandbox,
  operation: Operation<I, O, T>,
  input: I,
): Promise<O> {
  const reply = await askOperation(sandbox, operation, input);
  if (reply.ok !== true) {
    const { code, message } = reply.error ?? {};
    throw isErrorCode(code) ? new StewardError(code, message) : new StewardError("command_failed");
  }
  const value = operation.output().safeParse(reply.value);
  if (!value.success) throw new StewardError("command_failed");
  return value.data;
}

/** Rejects with `command_timed_out` after the given milliseconds. */
export function commandTimeout<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  return withTimeout(milliseconds, work, () => new StewardError("command_timed_out"));
}

/** A value, or the error that prevented it. */
export interface Attempt<T> {
  value?: T;
  problem?: Reason;
}

/** Waits for `work`, up to a time limit. Returns an error instead of rejecting, so that a page can show it. */
export async function attempt<T>(milliseconds: number, work: Promise<T>): Promise<Attempt<T>> {
  try {
    return { value: await commandTimeout(milliseconds, work) };
  } catch (error) {
    return { problem: error instanceof StewardError ? error.reason : reason("gateway_unavailable") };
  }
}
