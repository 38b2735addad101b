import type { Config } from "../../contract/config.ts";
import { resolveSecret } from "../../contract/config-text.ts";
import type { ChannelHealth, Platform } from "../../contract/control.ts";
import type { Environment } from "../../contract/environment.ts";
import { reason } from "../../contract/errors.ts";
import type { Log } from "../../contract/log.ts";
import type { PairingStores } from "../pairing/stores.ts";
import { directMessageAccess } from "./access.ts";
import type { Channel } from "./channel.ts";
import { createSlackChannel } from "./slack/channel.ts";
import { createSlackSender } from "./slack/outbound.ts";

/** The channels of a config. */
export interface Channels {
  get(platform: Platform): Channel | undefined;
  /** Every configured channel, also those that are switched off or have no adapter in this version. */
  health(): ChannelHealth[];
}

/** What channels are made from. */
export interface ChannelsOptions {
  config: Config;
  environment: Environment;
  pairing: PairingStores;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/** Platforms that a config may name although this version has no adapter for them. */
const UNSERVED = ["telegram", "discord"] as const;

/** Makes the configured channels. No request goes out: a platform out of reach does not stop the start. */
export function createChannels({ config, environment, pairing, clock, log }: ChannelsOptions): Channels {
  const served = new Map<Platform, Channel>();
  const others: ChannelHealth[] = [];
  const { slack } = config.channels;
  if (slack?.enabled) {
    const send = createSlackSender({
      botToken: resolveSecret(slack.botToken, environment),
      apiUrl: environment["SLACK_API_URL"] ?? "",
      clock,
    });
    const access = directMessageAccess(slack, pairing("slack"));
    served.set("slack", createSlackChannel({ config: slack, access, send, log }));
  } else if (slack) {
    others.push({ platform: "slack", state: "disabled" });
  }
  for (const platform of UNSERVED) {
    const channel = config.channels[platform];
    if (channel === undefined) continue;
    if (!channel.enabled) {
      others.push({ platform, state: "disabled" });
      continue;
    }
    const why = reason("channel_not_configured", `This version does not serve ${platform}.`);
    others.push({ platform, state: "unserved", reason: { ...why, fix: `Remove channels.${platform}.` } });
    log.warn("a configured channel is not served by this version", { platform });
  }
  return {
    get: (platform) => served.get(platform),
    health: () => [...[...served.values()].map((channel) => channel.health()), ...others],
  };
}
