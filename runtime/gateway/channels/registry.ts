import type { Config } from "../../contract/config/index.ts";
import type { ChannelHealth } from "../../contract/control.ts";
import { type Platform, platformSchema } from "../../contract/delivery.ts";
import type { Environment } from "../../contract/environment.ts";
import type { FetchedPlatform } from "../../process/intake.ts";
import { accessRules, type ChannelAccess, channelAccess } from "../../shared/channel-access.ts";
import type { Log } from "../../shared/log.ts";
import type { PairingStores } from "../pairing/store.ts";

import type { Channel } from "./channel.ts";
import { createDiscordChannel } from "./discord/channel.ts";
import { createSlackChannel } from "./slack/channel.ts";
import { createTelegramChannel } from "./telegram/channel.ts";
import type { ChatMoves } from "./telegram/moves.ts";
import type { ReadIntake } from "./intake.ts";

export interface Channels {
  get(platform: Platform): Channel | undefined;
  /** Probes all enabled channels. Never rejects. */
  probe(): Promise<void>;
  /** Includes disabled channels. */
  health(): ChannelHealth[];
  /** Probes one channel and returns its health. Never rejects. */
  test(platform: Platform): Promise<ChannelHealth | undefined>;
}

export interface ChannelsOptions {
  config: Config;
  environment: Environment;
  pairing: PairingStores;
  intakes: Readonly<Record<FetchedPlatform, ReadIntake>>;
  telegramMoves: Pick<ChatMoves, keyof ChatMoves>;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

type Section<Of extends Platform> = NonNullable<Config["channels"][Of]>;

/** Creates the configured channels. Sends no requests, so that an unreachable platform does not delay the start. */
export function createChannels(options: ChannelsOptions): Channels {
  const { config, environment, pairing, intakes, telegramMoves: moves, clock, log } = options;
  const shared = { environment, clock, log };
  const served = new Map<Platform, Channel>();
  const rules = accessRules(config);
  const create: { readonly [Of in Platform]: (config: Section<Of>, access: ChannelAccess) => Channel } = {
    slack: (section, access) => createSlackChannel({ ...shared, config: section, access }),
    telegram: (section, access) =>
      createTelegramChannel({ ...shared, config: section, access, intake: intakes.telegram, moves }),
    discord: (section, access) =>
      createDiscordChannel({ ...shared, config: section, access, intake: intakes.discord }),
  };
  const serve = <Of extends Platform>(platform: Of): void => {
    const section = config.channels[platform];
    const access = rules[platform];
    if (!section?.enabled || access === undefined) return;
    served.set(platform, create[platform](section, channelAccess(access, pairing(platform))));
  };
  platformSchema.options.forEach(serve);
  const configured = Object.keys(config.channels) as Platform[];
  const health = (): ChannelHealth[] =>
    configured.map((platform) => served.get(platform)?.health() ?? { platform, state: "disabled" });
  return {
    get: (platform) => served.get(platform),
    health,
    test: async (platform) => {
      await served.get(platform)?.probe();
      return health().find((one) => one.platform === platform);
    },
    probe: async () => {
      await Promise.all([...served.values()].map((channel) => channel.probe()));
    },
  };
}
