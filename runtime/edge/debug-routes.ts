import type { Handler } from "hono";
import {
  CONTROL_ROUTES,
  GATEWAY_ROUTES,
  type ContainerConfig,
  type GatewayStatus,
  type ProcessList,
} from "../contract/control.ts";
import { sendProblem } from "./problems.ts";
import type { Sandbox } from "./ports.ts";

/** The processes of the container; none while it is stopped, which is not a reason to wake it. */
export async function listProcesses(sandbox: Sandbox, logs: boolean): Promise<ProcessList> {
  const { state } = await sandbox.status();
  if (state === "stopped") return { processes: [] };
  const response = await sandbox.request("supervisor", {
    method: "GET",
    path: `${CONTROL_ROUTES.processes}?logs=${logs}`,
  });
  if (!response.ok) return { processes: [] };
  return (await response.json()) as ProcessList;
}

/** What the gateway tells of itself; `undefined` while it is not ready. */
export async function gatewayDetails(sandbox: Sandbox): Promise<GatewayStatus | undefined> {
  const { state } = await sandbox.status();
  if (state !== "ready") return undefined;
  const response = await sandbox.request("gateway", { method: "GET", path: GATEWAY_ROUTES.status });
  return response.ok ? ((await response.json()) as GatewayStatus) : undefined;
}

/** `GET /debug/processes?logs=true`: state and processes; works while the gateway is dead. */
export function debugProcesses(sandbox: Sandbox): Handler {
  return async function handleProcesses(context) {
    const status = await sandbox.status();
    const { processes } = await listProcesses(sandbox, context.req.query("logs") === "true");
    return context.json({ ...status, processes });
  };
}

/** `GET /debug/container-config`: the container's config file with its secrets redacted; starts a stopped container. */
export function debugContainerConfig(sandbox: Sandbox): Handler {
  return async function handleContainerConfig(context) {
    const response = await sandbox.request("supervisor", { method: "GET", path: CONTROL_ROUTES.config });
    if (!response.ok)
      return sendProblem("gateway_unavailable", "The container's supervisor does not answer.");
    return context.json((await response.json()) as ContainerConfig);
  };
}
