import type { Config } from "../../contract/config/index.ts";
import { resolveSecret } from "../../contract/config/text.ts";
import type { Environment } from "../../contract/environment.ts";
import { directAddress } from "../../contract/services.ts";
import type { Ledger } from "../../edge/ports.ts";
import { TelegramApi } from "../../process/telegram/api.ts";
import { holderIsGone, processHolder } from "../intake/lease.ts";
import { type IntakeOptions, IntakeWatch, type Off, type Source } from "../intake/watch.ts";
import { Poller } from "./poller.ts";
import { IntakeRecord } from "./record.ts";
import { WebhookRegistration } from "./webhook.ts";

type Mode =
  | { kind: "poll"; token: string; proxy?: string }
  | { kind: "webhook"; token: string; proxy?: string; url: string; secret: string };

export function telegramIntake(options: IntakeOptions): IntakeWatch<"telegram", Mode> {
  const { configPath, environment, log } = options;
  const holder = processHolder();
  return new IntakeWatch({
    platform: "telegram",
    configPath,
    environment,
    read: (section) => readMode(section, environment),
    create: (mode) => createSource(mode, holder, options),
    log,
  });
}

function createSource(
  mode: Mode,
  holder: string,
  { environment, sql, ledger, clock, log }: IntakeOptions,
): Source {
  const { token, proxy } = mode;
  const apiRoot = directAddress("telegram", environment);
  const api = new TelegramApi({ token, apiRoot, ...(proxy !== undefined && { proxy }) });
  const record = new IntakeRecord({ sql, bot: api.botId, holder, isGone: holderIsGone, clock });
  if (mode.kind === "poll") {
    const admit = (delivery: Parameters<Ledger["admit"]>[0]) => ledger.admit(delivery);
    return new Poller({ api, record, admit, clock, random: Math.random, log });
  }
  const { url, secret } = mode;
  const checkedSecret = environment["TELEGRAM_WEBHOOK_SECRET"];
  return new WebhookRegistration({ api, record, url, secret, checkedSecret, log });
}

function readMode(
  telegram: NonNullable<Config["channels"]["telegram"]>,
  environment: Environment,
): Mode | Off {
  const { webhookUrl: url, webhookSecret, proxy } = telegram;
  const bot = {
    token: resolveSecret(telegram.botToken, environment),
    ...(proxy !== undefined && { proxy }),
  };
  if (url !== undefined && webhookSecret !== undefined) {
    return { kind: "webhook", ...bot, url, secret: resolveSecret(webhookSecret, environment) };
  }
  // Polling would delete a webhook that was set by hand.
  if (environment["TELEGRAM_WEBHOOK_SECRET"]) return { kind: "none", why: "TELEGRAM_WEBHOOK_SECRET is set" };
  return { kind: "poll", ...bot };
}
