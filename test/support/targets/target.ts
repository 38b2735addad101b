import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ERRORS } from "../../../runtime/contract/errors.ts";
import { startPlatforms, type Platforms } from "../../../rehearsal/platforms.ts";
import { readRehearsalSettings, type RehearsalSettings } from "../../../rehearsal/settings.ts";

/** A deployed service for the contract suite. Its gateway is down at first. */
export interface Target {
  url: string;
  settings: RehearsalSettings;
  platforms: Platforms;
  operator: Record<string, string>;
  /** Asleep, or kept down by an invalid config. */
  down: Down;
  /** Origin to which an identity gateway redirects strangers. */
  signInOrigin?: string;
  /** Lets the gateway start. */
  mend(): Promise<void>;
  stop(): Promise<void>;
}

/** State of a gateway that is down, the error code at `/`, and its page's text after a visit. */
interface Down {
  state: "stopped" | "crash-looping";
  code: "gateway_not_ready" | "config_invalid";
  tells: string;
}

export const ASLEEP: Down = { state: "stopped", code: "gateway_not_ready", tells: "The gateway is starting" };
/** A gateway whose config is {@link DEPRECATED}. */
export const KEPT_FROM_STARTING: Down = {
  state: "crash-looping",
  code: "config_invalid",
  tells: ERRORS.config_invalid.cause,
};

/** From an older version; see the specification's section 7. */
export const DEPRECATED = {
  channels: { telegram: { botToken: { env: "TELEGRAM_BOT_TOKEN" }, dm: { policy: "open" } } },
};

/** Generates secrets and starts stand-ins for the platforms and the model. */
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
