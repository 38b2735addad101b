import { join } from "node:path";
import type { GatewayStatus } from "../contract/control.ts";
import type { Environment } from "../contract/environment.ts";
import { StewardError } from "../contract/errors.ts";
import { VERSION } from "../contract/names.ts";
import { createRedactor } from "../contract/redact.ts";
import { listen } from "../process/listen.ts";
import { createLog } from "../process/log.ts";
import { readProcessSettings } from "../process/settings.ts";
import { Agent } from "./agent/agent.ts";
import { createChannels } from "./channels/registry.ts";
import { loadConfig } from "./config/load.ts";
import { unusedCredentials } from "./config/render.ts";
import { Deliveries } from "./deliveries/deliveries.ts";
import { DeliveryRecords } from "./deliveries/records.ts";
import { ensureDirectory } from "../process/files.ts";
import { gatewayApp } from "./http/app.ts";
import { createAnthropicModel } from "./models/anthropic.ts";
import { UsageStore } from "./models/usage.ts";
import { PairingDesk } from "./pairing/desk.ts";
import { ApprovalNotices } from "./pairing/notices.ts";
import { pairingStores } from "./pairing/stores.ts";
import { WaitingSenders } from "./pairing/waiting.ts";
import { Sessions } from "./sessions/store.ts";
import { openStore } from "./store.ts";

/** Less than the 10 s that a container engine waits by default before it kills. */
const DRAIN_MS = 7_000;
const CLOSE_MS = 500;
const USAGE_DAYS = 7;

/** What the gateway is started with. */
export interface GatewayOptions {
  environment: Environment;
  /** Milliseconds since the epoch. */
  clock(): number;
  /** Receives one log line, its line feed included. */
  write(line: string): void;
}

/** A gateway that is ready. */
export interface Gateway {
  port: number;
  /** Takes nothing new, lets running deliveries end within a bound, closes the store. */
  close(): Promise<void>;
}

/**
 * Starts the gateway. The port listens only when all before it has gone well.
 *
 * @throws StewardError with the cause and the fix: the process should print it and exit with code 1.
 */
export async function startGateway({ environment, clock, write }: GatewayOptions): Promise<Gateway> {
  // 1. Environment. A leftover of older versions that would change who may write to the bot.
  if (environment["TELEGRAM_DM_POLICY"]) throw new StewardError("dm_policy_set");
  const settings = readProcessSettings(environment);

  // 2. Data directory.
  ensureDirectory(settings.home);

  // 3. Config, and the log at its level.
  const { config, secrets, fresh } = loadConfig(settings.configPath, environment);
  const redact = createRedactor(environment, secrets);
  const log = createLog({ name: "gateway", level: settings.logLevel ?? config.logging.level, redact, write });
  if (fresh) log.info("config written from the environment", { path: settings.configPath });
  const unused = unusedCredentials(environment, Object.keys(config.channels));
  if (unused.length > 0) {
    log.warn("set, but the config file has no such channel: add it, or delete the file", { unused });
  }
  if (settings.controlToken === undefined) log.warn("no control token: every delivery is refused");

  // 4. Store.
  const database = openStore(join(settings.home, "state.db"));
  const sessions = new Sessions(database);
  const usage = new UsageStore(database);
  const records = new DeliveryRecords(database);
  const waiting = new WaitingSenders(database);
  const stores = pairingStores({
    home: settings.home,
    clock,
    onSetAside: (report) => log.error("a store could not be read and was set aside", { ...report }),
  });

  // 5. Channels and agent. Neither sends a request.
  const channels = createChannels({ config, environment, pairing: stores, clock, log });
  const model = createAnthropicModel({
    apiKey: environment["ANTHROPIC_API_KEY"] ?? "",
    baseUrl: environment["ANTHROPIC_BASE_URL"] ?? "",
    clock,
  });
  const agent = new Agent({ config, model, sessions, usage, clock, log });
  const pairing = new PairingDesk({ stores, waiting, log });
  const deliveries = new Deliveries({ channels, agent, pairing, records, clock, log });
  const notices = new ApprovalNotices({ channels, stores, waiting, clock, log });

  // 6. HTTP server.
  const since = new Date(clock()).toISOString();
  const status = (): GatewayStatus => ({
    version: VERSION,
    since,
    model: { id: agent.modelId, ...(agent.failure && { reason: agent.failure }) },
    channels: channels.health(),
    counts: { ...sessions.counts(), answered: records.answered, active: deliveries.active },
    usage: usage.recent(USAGE_DAYS),
  });
  const app = gatewayApp({ controlToken: settings.controlToken, deliveries, status, log });
  const server = await listen({
    fetch: (request) => app.fetch(request),
    hostname: settings.bind,
    port: settings.gatewayPort,
  });

  // 7. Ready.
  notices.start();
  log.info("gateway ready", { port: server.port, version: VERSION, model: agent.modelId });
  return {
    port: server.port,
    close: async () => {
      log.info("gateway stopping", { active: deliveries.active });
      await Promise.all([deliveries.drain(DRAIN_MS), notices.stop(DRAIN_MS)]);
      await server.close(CLOSE_MS);
      database.close();
    },
  };
}
