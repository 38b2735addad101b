import type { ChannelHealth } from "../contract/control.ts";
import { table } from "../shared/table.ts";
import { EVERYWHERE, operation, type OperationTools } from "./operation.ts";

interface ChannelRow extends Pick<ChannelHealth, "platform" | "reason" | "lastEventAt"> {
  state: ChannelHealth["state"] | "unknown";
}

/**
 * `steward channels`. If the gateway is down, the command lists the config's channels. The state of each enabled
 * channel is then unknown.
 */
export const channels = {
  status: operation({
    name: "channels status",
    summary: "the state of each configured chat platform",
    rights: EVERYWHERE,
    async run(tools) {
      const { details } = await tools.gateway.status();
      return { known: details !== undefined, channels: details?.channels ?? (await configured(tools)) };
    },
    text({ known, channels }) {
      if (channels.length === 0) return "No channels are configured.";
      const cells = channels.map(({ platform, state, lastEventAt, reason }) => [
        platform,
        state,
        lastEventAt ?? "",
        reason === undefined ? "" : `${reason.detail} ${reason.fix}`,
      ]);
      const note = known
        ? ""
        : "\nState unknown: the gateway is down, or STEWARD_CONTROL_TOKEN is not set here.";
      return `${table(["Channel", "State", "Last event", "Problem"], cells)}${note}`;
    },
  }),
};

async function configured(tools: OperationTools): Promise<ChannelRow[]> {
  const { channels } = await tools.config.valid();
  return Object.entries(channels).map(([name, channel]) => ({
    platform: name as ChannelHealth["platform"],
    state: channel?.enabled ? "unknown" : "disabled",
  }));
}
