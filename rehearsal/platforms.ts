import path from "node:path";
import { startDiscord, type DiscordStandIn } from "./standins/discord.ts";
import { startModel } from "./standins/model.ts";
import type { Listening } from "./standins/serve.ts";
import { startSlack, type SlackStandIn } from "./standins/slack.ts";
import { startTelegram, type TelegramStandIn } from "./standins/telegram.ts";
import type { RehearsalSettings } from "./settings.ts";

export interface Platforms {
  slack: SlackStandIn;
  telegram: TelegramStandIn;
  discord: DiscordStandIn;
  /** `undefined` if the real model answers. */
  model: Listening | undefined;
  /** Value of `steward:endpoints`. */
  endpoints: Record<string, string>;
  close(): Promise<void>;
}

export interface PlatformsOptions {
  settings: RehearsalSettings;
  /** Folder in which the stand-in platforms save registrations. Default: registrations are lost on exit. */
  dir?: string;
  hostname: string;
  /** True if the user gave a key. */
  realModel: boolean;
  /** Delay between two words of the stand-in model, in milliseconds. Default: none. */
  wordMs?: number;
}

export async function startPlatforms({
  settings,
  dir,
  hostname,
  realModel,
  wordMs = 0,
}: PlatformsOptions): Promise<Platforms> {
  const { ports, secrets } = settings;
  const running: Listening[] = [];
  const at = async <Server extends Listening>(start: Promise<Server>): Promise<Server> => {
    const server = await start;
    running.push(server);
    return server;
  };
  const close = async () => void (await Promise.all(running.map((server) => server.close())));
  const links: Record<string, string> = {};
  const keptIn = (name: string) => (dir === undefined ? {} : { file: path.join(dir, `${name}.json`) });
  try {
    const { slackBotToken, slackSigningSecret, telegramBotToken, discordBotToken } = secrets;
    const slackSecrets = { botToken: slackBotToken, signingSecret: slackSigningSecret };
    const discordKey = { privateKey: secrets.discordPrivateKey, publicKey: secrets.discordPublicKey };
    const discordSecrets = {
      botToken: discordBotToken,
      applicationId: secrets.discordApplicationId,
      key: discordKey,
    };
    const slack = await at(startSlack({ hostname, port: ports.slack, ...slackSecrets, links }));
    const telegram = await at(
      startTelegram({
        hostname,
        port: ports.telegram,
        botToken: telegramBotToken,
        ...keptIn("telegram"),
        links,
      }),
    );
    const discord = await at(
      startDiscord({ hostname, port: ports.discord, ...discordSecrets, ...keptIn("discord"), links }),
    );
    const model = realModel
      ? undefined
      : await at(startModel({ hostname, port: ports.model, apiKey: secrets.anthropicApiKey, wordMs }));
    Object.assign(links, { Slack: slack.url, Telegram: telegram.url, Discord: discord.url });
    const endpoints = {
      slack: slack.apiUrl,
      telegram: telegram.url,
      discord: discord.apiUrl,
      ...(model && { anthropic: model.url }),
    };
    return { slack, telegram, discord, model, endpoints, close };
  } catch (error) {
    await close();
    throw error;
  }
}
