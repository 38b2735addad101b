import type { GatewayStatus, SandboxStatus } from "../contract/control.ts";
import { VERSION } from "../contract/names.ts";
import { gatewayDetails } from "./debug-routes.ts";
import type { Ledger, LedgerCounts, Sandbox } from "./ports.ts";

/** What is measured of a deployment. */
export interface Metrics {
  version: string;
  ledger: LedgerCounts;
  sandbox: Pick<SandboxStatus, "state" | "since" | "restarts" | "coldStartMs">;
  /** Told by the gateway itself; only while it is ready. */
  gateway?: Pick<GatewayStatus, "counts" | "schedules" | "usage"> & {
    channels: { platform: string; state: string }[];
    models: { id: string; state: string }[];
  };
}

/** Reads all figures. Wakes nothing and keeps nothing awake, so it may be asked at any rate. */
export async function readMetrics(ledger: Ledger, sandbox: Sandbox): Promise<Metrics> {
  const [counts, { state, since, restarts, coldStartMs }, details] = await Promise.all([
    ledger.counts(),
    sandbox.status(),
    gatewayDetails(sandbox),
  ]);
  return {
    version: VERSION,
    ledger: counts,
    sandbox: { state, since, restarts, ...(coldStartMs !== undefined && { coldStartMs }) },
    ...(details && { gateway: gatewayMetrics(details) }),
  };
}

function gatewayMetrics(details: GatewayStatus): NonNullable<Metrics["gateway"]> {
  const { counts, schedules, usage, channels, models } = details;
  return {
    counts,
    schedules,
    usage,
    channels: channels.map(({ platform, state }) => ({ platform, state })),
    models: models.map(({ id, state }) => ({ id, state })),
  };
}
