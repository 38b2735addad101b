import type { GatewayStatus } from "../contract/control.ts";
import { platformSchema, type Platform } from "../contract/delivery.ts";
import { StewardError } from "../contract/errors.ts";
import type { GatewayAnswer } from "../gateway/cli/gateway.ts";
import type { AccessRisk } from "../gateway/access-risks.ts";
import { EVERYWHERE, operation, TERMINAL, type OperationTools } from "./operation.ts";

/** Result of `steward status --json`. */
interface StatusReport {
  gateway: Omit<GatewayAnswer, "details">;
  config: { path: string; valid: boolean; detail?: string };
  risks: AccessRisk[];
  /** Details from the gateway. Absent if the gateway is down or this process does not have the control token. */
  details?: GatewayStatus;
  pairing: { channel: Platform; pending: number; approved: number }[];
  /** Corrupt stores that were renamed and replaced. */
  setAside: string[];
}

/** `steward status`. The exit code is 0 even if the gateway is down. */
export const status = operation({
  name: "status",
  summary: "the gateway, its config, and who waits for approval",
  rights: EVERYWHERE,
  async run(tools) {
    const { details, ...gateway } = await tools.gateway.status();
    const stores = await tools.pairing();
    const pairing = platformSchema.options
      .map((channel) => ({
        channel,
        pending: stores(channel).pending().length,
        approved: stores(channel).approved().length,
      }))
      .filter(({ pending, approved }) => pending + approved > 0);
    return {
      gateway,
      ...(await configState(tools)),
      ...(details && { details }),
      pairing,
      setAside: await tools.setAside(),
    };
  },
  text({ gateway, config, risks, details, pairing, setAside }) {
    const lines = [
      `Gateway: ${readyText(gateway)}`,
      `Config:  ${config.valid ? "valid" : "not valid"}, ${config.path}${config.detail ? ` (${config.detail})` : ""}`,
    ];
    for (const { path, detail, fix } of risks) lines.push(`Access:  ${path}: ${detail} ${fix}`);
    if (details) lines.push(...detailLines(details));
    for (const { channel, pending, approved } of pairing) {
      lines.push(`Pairing: ${channel} ${pending} pending, ${approved} approved`);
    }
    for (const path of setAside) lines.push(`Corrupt: ${path} was set aside`);
    return lines.join("\n");
  },
});

export const health = operation({
  name: "health",
  summary: "whether the gateway is ready: exit code 0 or 1",
  rights: TERMINAL,
  async run(tools) {
    const { url, ready, foreign, version } = await tools.gateway.ready();
    return { ready, url, ...(foreign && { foreign }), ...(version && { version }) };
  },
  text: (answer) => readyText(answer).replace(/^./, (first) => first.toUpperCase()),
  failed: ({ ready }) => !ready,
});

async function configState(tools: OperationTools): Promise<Pick<StatusReport, "config" | "risks">> {
  const path = tools.configPath;
  try {
    const { result } = await tools.config.check();
    if (result.ok) return { config: { path, valid: true }, risks: await tools.config.risks(result.config) };
    return { config: { path, valid: false, detail: "see `steward config validate`" }, risks: [] };
  } catch (error) {
    if (!(error instanceof StewardError)) throw error;
    return { config: { path, valid: false, detail: error.message }, risks: [] };
  }
}

function readyText({ url, ready, foreign, version }: GatewayAnswer): string {
  if (ready) return `ready at ${url}, version ${version}`;
  return foreign
    ? `another program answers at ${url}: stop it, or set another GATEWAY_PORT for this gateway`
    : `no answer at ${url}`;
}

function detailLines({ model, models, channels, schedules, config, retention }: GatewayStatus): string[] {
  const lines: string[] = [];
  if (config.problem) lines.push(`Config:  a change was not applied: ${config.problem.detail}`);
  if (models.length === 0)
    lines.push(`Model:   ${model.id}${model.reason ? `, ${model.reason.detail}` : ""}`);
  for (const { id, state, reason, until } of models) {
    lines.push(
      `Model:   ${id} ${state}${until ? ` until ${until}` : ""}${reason ? `, ${reason.detail}` : ""}`,
    );
  }
  for (const { platform, state, reason, lastEventAt } of channels) {
    const last = lastEventAt ? `, last event ${lastEventAt}` : "";
    lines.push(`Channel: ${platform} ${state}${last}${reason ? `, ${reason.detail} ${reason.fix}` : ""}`);
  }
  if (schedules.count > 0) {
    const missed = schedules.missed > 0 ? `, ${schedules.missed} missed` : "";
    const failed = (schedules.failed ?? 0) > 0 ? `, ${schedules.failed} failed` : "";
    lines.push(`Schedules: ${schedules.count}, next ${schedules.nextAt ?? "none"}${missed}${failed}`);
  }
  if (retention !== undefined && retention.messages > 0) {
    lines.push(
      `Retention: ${retention.messages} messages will be removed from ${retention.beginsAt} on (sessions.retention)`,
    );
  }
  return lines;
}
