import type { Command } from "commander";
import { type GatewayStatus } from "../../contract/control.ts";
import { platformSchema, type Platform } from "../../contract/delivery.ts";
import { StewardError } from "../../contract/errors.ts";
import { wholeReading } from "../../process/config-file.ts";
import { type AccessRisk, accessRisks } from "../access-risks.ts";
import { setAsideFiles } from "../store-file.ts";
import { readConfigFile } from "./config-file.ts";
import { type CommandContext, commandStores, type JsonOption } from "./context.ts";
import { askGateway, readyText, type GatewayAnswer } from "./gateway.ts";

/** Answer of `steward status --json`. */
interface StatusReport {
  gateway: Omit<GatewayAnswer, "details">;
  config: { path: string; valid: boolean; detail?: string };
  /** Risks of who may do what. */
  risks: AccessRisk[];
  /** Told by the gateway itself, where it is up and this process holds its control token. */
  details?: GatewayStatus;
  pairing: { channel: Platform; pending: number; approved: number }[];
  /** Stores that could not be read and lie beside the new ones. */
  setAside: string[];
}

/** `steward status`: exit code 0 whenever it could be found out, also while the gateway is down. */
export function addStatusCommand(program: Command, context: CommandContext): void {
  program
    .command("status")
    .description("the gateway, its config, and who waits for approval")
    .option("--json", "as JSON")
    .action(async ({ json }: JsonOption) => {
      const report = await readStatus(context);
      context.output.answer(json, report, statusText(report));
    });
}

async function readStatus(context: CommandContext): Promise<StatusReport> {
  const { details, ...gateway } = await askGateway(context);
  const { settings, environment } = context;
  const stores = commandStores(context);
  const pairing = platformSchema.options
    .map((channel) => ({
      channel,
      pending: stores(channel).pending().length,
      approved: stores(channel).approved().length,
    }))
    .filter(({ pending, approved }) => pending + approved > 0);
  return {
    gateway,
    ...(await configState(settings, environment)),
    ...(details && { details }),
    pairing,
    setAside: setAsideFiles(settings.home),
  };
}

async function configState(
  { configPath: path, home }: CommandContext["settings"],
  environment: CommandContext["environment"],
): Promise<Pick<StatusReport, "config" | "risks">> {
  try {
    const { result } = await wholeReading(readConfigFile(path, environment));
    if (result.ok) return { config: { path, valid: true }, risks: accessRisks(result.config, home) };
    return { config: { path, valid: false, detail: "see `steward config validate`" }, risks: [] };
  } catch (error) {
    if (!(error instanceof StewardError)) throw error;
    return { config: { path, valid: false, detail: error.message }, risks: [] };
  }
}

function statusText({ gateway, config, risks, details, pairing, setAside }: StatusReport): string {
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
}

function detailLines({ model, models, channels, schedules, config, retention }: GatewayStatus): string[] {
  const lines: string[] = [];
  if (config.problem) lines.push(`Config:  a change was not taken over: ${config.problem.detail}`);
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
      `Retention: ${retention.messages} messages go, from ${retention.beginsAt} on (sessions.retention)`,
    );
  }
  return lines;
}
