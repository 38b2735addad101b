import type { Command } from "commander";
import type { ChannelHealth } from "../../contract/control.ts";
import { StewardError } from "../../contract/errors.ts";
import { table } from "../../shared/table.ts";
import { readConfigFile } from "./config-file.ts";
import type { CommandContext, JsonOption } from "./context.ts";
import { askGateway } from "./gateway.ts";

interface ChannelRow extends Pick<ChannelHealth, "platform" | "reason" | "lastEventAt"> {
  state: ChannelHealth["state"] | "unknown";
}

/** `steward channels status`: as the gateway sees them; while it is down, what the config names. */
export function addChannelCommands(program: Command, context: CommandContext): void {
  const channels = program.command("channels").description("the chat platforms");
  channels
    .command("status")
    .description("the state of each configured chat platform")
    .option("--json", "as JSON")
    .action(async ({ json }: JsonOption) => {
      const { details } = await askGateway(context);
      const rows: ChannelRow[] = details?.channels ?? configured(context);
      const known = details !== undefined;
      context.output.answer(json, { known, channels: rows }, channelsText(rows, known));
    });
}

function configured({ settings, environment }: CommandContext): ChannelRow[] {
  const { result } = readConfigFile(settings.configPath, environment);
  if (!result.ok) throw new StewardError("config_invalid", "See `steward config validate`.");
  return Object.entries(result.config.channels).map(([name, channel]) => ({
    platform: name as ChannelHealth["platform"],
    state: channel?.enabled ? "unknown" : "disabled",
  }));
}

function channelsText(rows: readonly ChannelRow[], known: boolean): string {
  if (rows.length === 0) return "No channels are configured.";
  const cells = rows.map(({ platform, state, lastEventAt, reason }) => [
    platform,
    state,
    lastEventAt ?? "",
    reason === undefined ? "" : `${reason.detail} ${reason.fix}`,
  ]);
  const note = known
    ? ""
    : "\nThe gateway did not tell: it is down, or STEWARD_CONTROL_TOKEN is not set here.";
  return `${table(["Channel", "State", "Last event", "Problem"], cells)}${note}`;
}
