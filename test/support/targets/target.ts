import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ERRORS } from "../../../runtime/contract/errors.ts";
import { startPlatforms, type Platforms } from "../../../rehearsal/platforms.ts";
import { readRehearsalSettings, type RehearsalSettings } from "../../../rehearsal/settings.ts";

/** Running service that the contract suite tests. Its gateway is down at first. */
export interface Target {
  url: string;
  settings: RehearsalSettings;
  platforms: Platforms;
  operator: Record<string, string>;
  down: Down;
  signInOrigin?: string;
  mend(): Promise<void>;
  stop(): Promise<void>;
}

/** Signs of a gateway that is down. */
interface Down {
  state: "stopped" | "crash-looping";
  code: "gateway_not_ready" | "config_invalid";
  tells: string;
}

export const ASLEEP: Down = { state: "stopped", code: "gateway_not_ready", tells: "The gateway is starting" };
export const KEPT_FROM_STARTING: Down = {
  state: "crash-looping",
  code: "config_invalid",
  tells: ERRORS.config_invalid.cause,
};

/** Config of an older version, which the gateway rejects. */
export const DEPRECATED = {
  channels: { telegram: { botToken: { env: "TELEGRAM_BOT_TOKEN" }, dm: { policy: "open" } } },
};

export async function startStandIns(hostname = "127.0.0.1") {
  const dir = await mkdtemp(path.join(tmpdir(), "steward-suite-"));
  const settings = await readRehearsalSettings(dir);
  await rm(dir, { recursive: true });
  const platforms = await startPlatforms({ settings, hostname, realModel: false });
  return { settings, platforms, environment: environmentOf(settings, platforms) };
}

function environmentOf({ secrets }: RehearsalSettings, { endpoints }: Platforms): Record<string, string> {
  const { slack = "", telegram = "", discord = "", anthropic = "" } = endpoints;
  return {
    SLACK_BOT_TOKEN: secrets.slackBotToken,
    SLACK_SIGNING_SECRET: secrets.slackSigningSecret,
    SLACK_API_URL: slack,
    TELEGRAM_BOT_TOKEN: secrets.telegramBotToken,
    TELEGRAM_WEBHOOK_SECRET: secrets.telegramWebhookSecret,
    TELEGRAM_API_ROOT: telegram,
    DISCORD_APPLICATION_ID: secrets.discordApplicationId,
    DISCORD_PUBLIC_KEY: secrets.discordPublicKey,
    DISCORD_BOT_TOKEN: secrets.discordBotToken,
    DISCORD_API_URL: discord,
    ANTHROPIC_API_KEY: secrets.anthropicApiKey,
    ANTHROPIC_BASE_URL: anthropic,
  };
}
