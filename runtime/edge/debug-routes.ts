import type { Handler } from "hono";
import * as z from "zod/mini";
import type { Attest } from "../contract/attestation.ts";
import {
  CONTROL_ROUTES,
  GATEWAY_ROUTES,
  type ContainerConfig,
  type GatewayStatus,
  type ProcessList,
  type UsageReport,
  type LogTail,
} from "../contract/control.ts";
import { StewardError } from "../contract/errors.ts";
import { VERSION } from "../contract/names.ts";
import { readContainerConfig, readGatewayStatus, readProcesses, readUsage } from "./container-answers.ts";
import { askSupervisor, NO_SUPERVISOR } from "./operate.ts";
import type { Sandbox } from "./ports.ts";
import { sendError } from "./problems.ts";
import { readQuery, wholeNumber } from "./form.ts";

/** Maximum wait for the config file at a first start, in milliseconds. */
const LONGEST_START_MS = 5_000;
/** Interval between checks for the config file, in milliseconds. */
const AGAIN_MS = 250;
const STARTING = "The gateway is starting and has not written its config file yet.";
const RETRY_AFTER_SECONDS = 5;
/** Maximum number of gateway output lines that the supervisor retains. */
export const MAX_LINES = 500;
// Built lazily to keep startup fast.
const logsQuery = () =>
  z.strictObject({
    lines: z._default(wholeNumber(1, MAX_LINES), 200),
    after: z.optional(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
  });

/** Lists the container's processes. Does not wake a stopped container. */
export async function listProcesses(sandbox: Sandbox, logs: boolean): Promise<ProcessList> {
  const { state } = await sandbox.status();
  if (state === "stopped") return { processes: [] };
  const response = await sandbox.request("supervisor", {
    method: "GET",
    path: `${CONTROL_ROUTES.processes}?logs=${logs}`,
  });
  if (!response.ok) return { processes: [] };
  return readProcesses(response);
}

/**
 * Returns the last lines of the gateway's output, optionally after line number `after`. Does not wake the container
 * or count as activity.
 *
 * @throws StewardError `gateway_unavailable` if a running container does not answer
 */
export async function readLastLines(
  sandbox: Pick<Sandbox, "status" | "peek">,
  lines: number,
  after?: number,
): Promise<LogTail> {
  const { state } = await sandbox.status();
  if (state === "stopped") return { lines: [] };
  const since = after === undefined ? "" : `&after=${after}`;
  const path = `${CONTROL_ROUTES.processes}?logs=true${since}`;
  const response = await sandbox.peek({ method: "GET", path }, "supervisor");
  if (!response?.ok) throw new StewardError("gateway_unavailable", NO_SUPERVISOR);
  const { processes } = await readProcesses(response);
  const { logs = [], nextLog } = processes.find((one) => one.logs !== undefined) ?? {};
  return { lines: logs.slice(-lines), ...(nextLog !== undefined && { next: nextLog }) };
}

/** Returns the status of a ready gateway. Does not wake the container or count as activity. */
export async function gatewayDetails(sandbox: Pick<Sandbox, "peek">): Promise<GatewayStatus | undefined> {
  const response = await sandbox.peek({ method: "GET", path: GATEWAY_ROUTES.status });
  return response?.ok ? readGatewayStatus(response) : undefined;
}

/** Returns the usage report of a ready gateway. Does not wake the container or count as activity. */
export async function gatewayUsage(sandbox: Sandbox): Promise<UsageReport | undefined> {
  const response = await sandbox.peek({ method: "GET", path: GATEWAY_ROUTES.usage });
  return response?.ok ? readUsage(response) : undefined;
}

/**
 * `GET /debug/processes`: state and processes (`logs=true` adds the gateway's output), even if the gateway is down.
 * Starts a stopped container.
 */
export function debugProcesses(sandbox: Sandbox): Handler {
  return async function handleProcesses(context) {
    await sandbox.wake("operator");
    const status = await sandbox.status();
    const { processes } = await listProcesses(sandbox, context.req.query("logs") === "true");
    return context.json({ ...status, processes });
  };
}

/** `GET /debug/logs?lines=&after=`: the last lines of gateway output, oldest first. Does not wake the container. */
export function debugLogs(sandbox: Sandbox): Handler {
  return async function handleLogs(context) {
    const { lines, after } = readQuery(context, logsQuery());
    const { state } = await sandbox.status();
    return context.json({ state, ...(await readLastLines(sandbox, lines, after)) });
  };
}

/**
 * `GET /debug/version`: versions of the edge (`version`, `bundle`) and of the container (`gateway`, `container`).
 * `attestation` and `secrets` are keyed hashes that reveal whether secrets changed. Does not wake the container.
 */
export function debugVersion(sandbox: Sandbox, bundle: string, attestation: Attest): Handler {
  return async function handleVersion(context) {
    const { version: gateway, bundle: container } = await sandbox.status();
    const inside = { ...(gateway && { gateway }), ...(container && { container }) };
    const attested = await attestation();
    const secrets = attested && { attestation: attested.all, secrets: attested.secrets };
    return context.json({ version: VERSION, bundle, runtime: navigator.userAgent, ...inside, ...secrets });
  };
}

/** `GET /debug/container-config`: the config file with redacted secrets. Starts a stopped container. */
export function debugContainerConfig(sandbox: Sandbox): Handler {
  return async function handleContainerConfig(context) {
    try {
      return context.json(await containerConfig(sandbox));
    } catch (error) {
      if (!(error instanceof StewardError)) throw error;
      return sendError(error, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
  };
}

/**
 * Returns the redacted config file and its problems. Starts a stopped container. On a first start, waits until the
 * gateway has written the file.
 *
 * @throws StewardError `gateway_unavailable` if the supervisor does not answer, or the file is not written in time.
 */
export async function containerConfig(sandbox: Sandbox): Promise<ContainerConfig> {
  for (let waitedMs = 0; ; waitedMs += AGAIN_MS) {
    const response = await askSupervisor(sandbox, { method: "GET", path: CONTROL_ROUTES.config });
    if (!response.ok) throw new StewardError("gateway_unavailable", NO_SUPERVISOR);
    const config = await readContainerConfig(response);
    if (!config.missing || (await sandbox.status()).state !== "starting") return config;
    if (waitedMs >= LONGEST_START_MS) throw new StewardError("gateway_unavailable", STARTING);
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
