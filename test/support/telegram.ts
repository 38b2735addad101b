import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { onTestFinished } from "vitest";
import { startModel } from "../../rehearsal/standins/model.ts";
import { startTelegram } from "../../rehearsal/standins/telegram.ts";
import { eventually, startRuntime, temporaryDirectory } from "../runtime/support/processes.ts";
import { freePort } from "./ports.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
export const TELEGRAM_TOKEN = "1234567890:AAabcdefghijklmnopqrstuvwxyz0123456";
const BOT_ID = 1234567890;
const MODEL_KEY = "sk-ant-test-0123456789abcdef";

/** The stand-in for Telegram, ended with the test. */
export async function telegramStandIn() {
  const telegram = await startTelegram({ ...LOOPBACK, botToken: TELEGRAM_TOKEN });
  onTestFinished(() => telegram.close());
  return telegram;
}

/** A data directory with stand-ins around it, and the environment of a host in it. */
export async function telegramHost(channel: object = {}) {
  const [home, telegram, model] = await Promise.all([
    temporaryDirectory(),
    telegramStandIn(),
    startModel({ ...LOOPBACK, apiKey: MODEL_KEY }),
  ]);
  onTestFinished(() => model.close());
  const environment: Record<string, string> = {
    STEWARD_HOME: home,
    TELEGRAM_BOT_TOKEN: TELEGRAM_TOKEN,
    TELEGRAM_API_ROOT: telegram.url,
    ANTHROPIC_API_KEY: MODEL_KEY,
    ANTHROPIC_BASE_URL: model.url,
    ADMIN_TOKEN: "admin-token-0123456789",
  };
  /** Writes the config; `null` leaves Telegram out. */
  const configure = async (section: object = channel): Promise<void> => {
    await mkdir(home, { recursive: true });
    const usual = {
      botToken: { env: "TELEGRAM_BOT_TOKEN" },
      dmPolicy: "open",
      allowFrom: ["*"],
      groupPolicy: "open",
    };
    const channels = { telegram: { ...usual, ...section } };
    await writeFile(path.join(home, "steward.json"), JSON.stringify({ channels }));
  };
  await configure();

  /** Starts a host in the directory; it is not ready yet. */
  const start = async (extra: Record<string, string> = {}) => {
    const [port, gatewayPort] = [await freePort(), await freePort()];
    const ports = { PORT: String(port), GATEWAY_PORT: String(gatewayPort) };
    const host = startRuntime("host/main.ts", { ...environment, ...ports, ...extra });
    const url = `http://127.0.0.1:${port}`;
    const ready = () =>
      eventually(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200);
    return { ...host, url, ready };
  };

  /** The bot's row in the database. */
  const row = (): Record<string, unknown> | undefined => {
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(path.join(home, "state.db"), { readOnly: true });
      return database.prepare("SELECT * FROM telegram_intake WHERE bot = ?").get(String(BOT_ID));
    } catch {
      return undefined;
    } finally {
      database?.close();
    }
  };
  return { home, telegram, environment, configure, start, row };
}
