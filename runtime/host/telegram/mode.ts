import type { Environment } from "../../contract/environment.ts";
import { readConfigText, resolveSecret } from "../../contract/config/text.ts";

/** How Telegram's updates come in, as the config wants it. */
export type IntakeMode =
  /** Not by this process: no channel, a config that cannot be read, or a webhook that somebody else sets. */
  | { kind: "none"; why: string }
  | { kind: "poll"; token: string; proxy?: string }
  | { kind: "webhook"; token: string; proxy?: string; url: string; secret: string };

/** Reads the mode from a config file's text; `undefined` is a file that is not there. */
export function intakeMode(text: string | undefined, environment: Environment): IntakeMode {
  if (text === undefined) return { kind: "none", why: "there is no config file" };
  const { result } = readConfigText(text, environment);
  if (!result.ok) return { kind: "none", why: "the config file is not valid" };
  const { telegram } = result.config.channels;
  if (telegram === undefined || !telegram.enabled) return { kind: "none", why: "Telegram is not configured" };
  const { webhookUrl: url, webhookSecret, proxy } = telegram;
  const bot = {
    token: resolveSecret(telegram.botToken, environment),
    ...(proxy !== undefined && { proxy }),
  };
  if (url !== undefined && webhookSecret !== undefined) {
    return { kind: "webhook", ...bot, url, secret: resolveSecret(webhookSecret, environment) };
  }
  // Polling would delete the webhook that somebody has set by hand.
  if (environment["TELEGRAM_WEBHOOK_SECRET"]) return { kind: "none", why: "TELEGRAM_WEBHOOK_SECRET is set" };
  return { kind: "poll", ...bot };
}
