import type { Command } from "commander";
import { GATEWAY_ROUTES, platformSchema, type GatewayStatus, type Platform } from "../../contract/control.ts";
import { StewardError } from "../../contract/errors.ts";
import type { ProcessSettings } from "../../process/settings.ts";
import { readConfigFile } from "./config.ts";
import type { CommandContext, JsonOption } from "./context.ts";

/** A gateway on this machine answers within milliseconds; one that hangs is not up. */
const TIMEOUT_MS = 2_000;

/** Answer of `steward status --json`. */
interface StatusReport {
  gateway: { url: string; ready: boolean; version?: string };
  config: { path: string; valid: boolean; detail?: string };
  /** Told by the gateway itself, where it is up and this process holds its control token. */
  details?: GatewayStatus;
  pairing: { channel: Platform; pending: number; approved: number }[];
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

async function readStatus({ settings, environment, stores }: CommandContext): Promise<StatusReport> {
  const url = gatewayUrl(settings);
  const headers = { authorization: `Bearer ${settings.controlToken ?? ""}` };
  const ready = await readJson<{ version: string }>(`${url}${GATEWAY_ROUTES.ready}`);
  const details = ready && (await readJson<GatewayStatus>(`${url}${GATEWAY_ROUTES.status}`, headers));
  const pairing = platformSchema.options
    .map((channel) => ({
      channel,
      pending: stores(channel).pending().length,
      approved: stores(channel).approved().length,
    }))
    .filter(({ pending, approved }) => pending + approved > 0);
  return {
    gateway: { url, ready: ready !== undefined, ...(ready && { version: ready.version }) },
    config: configState(settings.configPath, environment),
    ...(details && { details }),
    pairing,
  };
}

function configState(path: string, environment: CommandContext["environment"]): StatusReport["config"] {
  try {
    const { result } = readConfigFile(path, environment);
    if (result.ok) return { path, valid: true };
    return {
      path,
      valid: false,
      detail: "see `steward config validate`",
    };
  } catch (error) {
    if (!(error instanceof StewardError)) throw error;
    return { path, valid: false, detail: error.message };
  }
}

/** An address that stands for all of them is reached on loopback. */
function gatewayUrl({ bind, gatewayPort }: ProcessSettings): string {
  if (bind === "0.0.0.0") return `http://127.0.0.1:${gatewayPort}`;
  if (bind === "::") return `http://[::1]:${gatewayPort}`;
  return `http://${bind.includes(":") ? `[${bind}]` : bind}:${gatewayPort}`;
}

async function readJson<T>(url: string, headers: Record<string, string> = {}): Promise<T | undefined> {
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    return response.ok ? ((await response.json()) as T) : undefined;
  } catch {
    return undefined;
  }
}

function statusText({ gateway, config, details, pairing }: StatusReport): string {
  const lines = [
    gateway.ready
      ? `Gateway: ready at ${gateway.url}, version ${gateway.version}`
      : `Gateway: no answer at ${gateway.url}`,
    `Config:  ${config.valid ? "valid" : "not valid"}, ${config.path}${config.detail ? ` (${config.detail})` : ""}`,
  ];
  if (details) {
    lines.push(
      `Model:   ${details.model.id}${details.model.reason ? `, ${details.model.reason.detail}` : ""}`,
    );
    for (const { platform, state, reason } of details.channels) {
      lines.push(`Channel: ${platform} ${state}${reason ? `, ${reason.detail} ${reason.fix}` : ""}`);
    }
  }
  for (const { channel, pending, approved } of pairing) {
    lines.push(`Pairing: ${channel} ${pending} pending, ${approved} approved`);
  }
  return lines.join("\n");
}
