import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { onTestFinished } from "vitest";
import { startModel } from "../../rehearsal/standins/model.ts";
import { eventually, startRuntime, temporaryDirectory } from "../runtime/support/processes.ts";
import { freePort } from "./ports.ts";

export const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
const MODEL_KEY = "sk-ant-test-0123456789abcdef";

interface ChannelHostOptions {
  platform: "telegram" | "discord";
  environment: Record<string, string>;
  /** The channel's default section of the config. */
  section: object;
}

/** Creates a data directory for a host, and a stand-in for the model. */
export async function channelHost({ platform, environment: channel, section: first }: ChannelHostOptions) {
  const [home, model] = await Promise.all([
    temporaryDirectory(),
    startModel({ ...LOOPBACK, apiKey: MODEL_KEY }),
  ]);
  onTestFinished(() => model.close());
  const environment: Record<string, string> = {
    STEWARD_HOME: home,
    ANTHROPIC_API_KEY: MODEL_KEY,
    ANTHROPIC_BASE_URL: model.url,
    ADMIN_TOKEN: "admin-token-0123456789",
    ...channel,
  };
  const configure = async (section: object = {}): Promise<void> => {
    await mkdir(home, { recursive: true });
    const channels = { [platform]: { ...first, ...section } };
    await writeFile(path.join(home, "steward.json"), JSON.stringify({ channels }));
  };
  await configure();

  const start = async (extra: Record<string, string> = {}) => {
    const [port, gatewayPort] = [await freePort(), await freePort()];
    const ports = { PORT: String(port), GATEWAY_PORT: String(gatewayPort) };
    const host = startRuntime("host/main.ts", { ...environment, ...ports, ...extra });
    const url = `http://127.0.0.1:${port}`;
    const ready = () =>
      eventually(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200);
    return { ...host, url, ready };
  };

  const row = (): Record<string, unknown> | undefined => {
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(path.join(home, "state.db"), { readOnly: true });
      return database.prepare(`SELECT * FROM ${platform}_intake ORDER BY expires_at DESC LIMIT 1`).get();
    } catch {
      return undefined;
    } finally {
      database?.close();
    }
  };
  return { home, environment, configure, start, row };
}
