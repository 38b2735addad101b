import { onTestFinished } from "vitest";
import { startTelegram } from "../../rehearsal/standins/telegram.ts";
import { channelHost, LOOPBACK } from "./channel-host.ts";

export const TELEGRAM_TOKEN = "1234567890:AAabcdefghijklmnopqrstuvwxyz0123456";

export async function telegramStandIn() {
  const telegram = await startTelegram({ ...LOOPBACK, botToken: TELEGRAM_TOKEN });
  onTestFinished(() => telegram.close());
  return telegram;
}

export async function telegramHost(channel: object = {}) {
  const telegram = await telegramStandIn();
  const host = await channelHost({
    platform: "telegram",
    environment: { TELEGRAM_BOT_TOKEN: TELEGRAM_TOKEN, TELEGRAM_API_ROOT: telegram.url },
    section: {
      botToken: { env: "TELEGRAM_BOT_TOKEN" },
      dmPolicy: "open",
      allowFrom: ["*"],
      groupPolicy: "open",
      ...channel,
    },
  });
  return { ...host, telegram };
}
