import type { GatewayStatus } from "../../contract/control.ts";
import { fine, wrong, type Finding } from "./finding.ts";

/** What the doctor is told of the running gateway. */
export interface RunningGateway {
  url: string;
  ready: boolean;
  details?: GatewayStatus;
}

/** Whether the gateway is up, and what it says is wrong. */
export function checkRunning({ url, ready, details }: RunningGateway): Finding[] {
  if (!ready) return [wrong("gateway", "warning", "gateway_unavailable", `No answer at ${url}.`)];
  const findings = [fine("gateway", `Ready at ${url}`)];
  if (details === undefined) return findings;
  const { config, channels, models, model } = details;
  const told = [
    { check: "config", reason: config.problem },
    ...channels.map(({ platform, reason }) => ({ check: `channel ${platform}`, reason })),
    ...(models.length > 0 ? models : [model]).map(({ id, reason }) => ({ check: `model ${id}`, reason })),
  ];
  for (const { check, reason } of told) {
    if (reason !== undefined) findings.push({ check, state: "problem", ...reason });
  }
  return findings;
}
