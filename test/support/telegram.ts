import { onTestFinished } from "vitest";
import { startTelegram } from "../../rehearsal/standins/telegram.ts";
import { channelHost, LOOPBACK } from "./channel-host.ts";

export const TELEGRAM_TOKEN = "1234567890:AAabcdefghijklmnopqrstuvwxyz0123456";

/** Starts the stand-in for Telegram until the test ends. */
export async function telegramStandIn() {
  const telegram = await startTelegram({ ...LOOPBACK, botToken: TELEGRAM_TOKEN });
  onTestFinished(() => telegram.close());
  return telegram;
}

/** Creates a data directory with stand-ins, and the environment of a host that uses them. */
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
