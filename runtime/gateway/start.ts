import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GATEWAY_ROUTES } from "../contract/control.ts";
import type { Environment } from "../contract/environment.ts";
import { StewardError } from "../contract/errors.ts";
import { createLog } from "../shared/log.ts";
import { STATUS_TOKEN_FILE, VERSION } from "../contract/names.ts";
import { ensureDirectory } from "../process/files.ts";
import { listen } from "../process/listen.ts";
import { randomBytes } from "../process/random.ts";
import { homeName, readProcessSettings } from "../process/settings.ts";
import { TENANT_VARIABLE } from "../contract/variables.ts";
import { Commands } from "./commands.ts";
import { namedOperators } from "../shared/channel-access.ts";
import { ConfigReload, KnownSecrets, loadGatewayConfig } from "./config.ts";
import { missingCredentials } from "../contract/config/credentials.ts";
import type { InTurn } from "./inbox/chat-queues.ts";
import { Inbox } from "./inbox/inbox.ts";
import { recordName } from "./inbox/records.ts";
import { Replies } from "./inbox/replies.ts";
import { Probe } from "./probe.ts";
import { AdmissionQuestions } from "./pairing/question.ts";
import { PairingDesk } from "./pairing/desk.ts";
import { ApprovalNotices } from "./pairing/notices.ts";
import { createComponents, type Components } from "./components.ts";
import { createAnnounce } from "./schedules/announce.ts";
import { Schedules } from "./schedules/schedules.ts";
import { Retention } from "./sessions/retention.ts";
import { gatewayStatus, usageReport } from "./status.ts";
import { openStores } from "./stores.ts";
import { WebChat } from "./webchat/chat.ts";
import { ChatHistory } from "./webchat/history.ts";
import { ChatSockets } from "./webchat/sockets.ts";
import { Workspace } from "./workspace/workspace.ts";
import type { ModelTimeout } from "./models/streamed.ts";

/** Drain time at shutdown, in milliseconds. Container engines kill a process 10 s after asking it to stop. */
const DRAIN_MS = 7_000;
const CLOSE_MS = 500;

export interface GatewayOptions {
  environment: Environment;
  /** Milliseconds since the epoch. */
  clock(): number;
  /** Writes one log line. `line` does not end with a line feed. */
  write(line: string): void;
  /** For tests. */
  modelTimeout?: ModelTimeout;
}

export interface Gateway {
  port: number;
  /** Reads and applies the config file. If that fails, the gateway's status gives the reason. */
  reload(): Promise<void>;
  /** Refuses new work, gives work in progress `graceMs` (default 7,000) to finish, and closes the stores. */
  close(options?: { graceMs?: number }): Promise<void>;
}

/** @throws StewardError, which the process should print before it exits with code 1 */
export async function startGateway({
  environment,
  clock,
  write,
  modelTimeout,
}: GatewayOptions): Promise<Gateway> {
  // 1. Environment. Refuse obsolete variables that decided who may write to the bot.
  if (environment["TELEGRAM_DM_POLICY"]) throw new StewardError("dm_policy_set");
  const settings = readProcessSettings(environment);

  // 2. Data directory.
  ensureDirectory(settings.home);

  // 3. Config, then the log, whose level the config sets.
  const { config, secrets, fresh, version } = await loadGatewayConfig(settings.configPath, environment);
  const known = new KnownSecrets(environment);
  known.add(secrets);
  const { redact } = known;
  const level = settings.logLevel ?? config.logging.level;
  const log = createLog({ name: "gateway", level, redact, write });
  if (fresh) log.info("config written from the environment", { path: settings.configPath });
  for (const [platform, missing] of Object.entries(missingCredentials(environment))) {
    log.warn("a channel is disabled: its credentials are incomplete", { platform, missing });
  }
  if (settings.controlToken === undefined) log.warn("no control token: every delivery is refused");

  // 4. Stores.
  const stores = openStores({ home: settings.home, clock, log });
  const { sessions, usage, records, firstWords, waiting } = stores;
  const workspace = new Workspace({ home: settings.home, limits: config.agent.limits, clock });
  workspace.open();

  // 5. Channels and agent. Creating them sends no request.
  const shared = {
    environment,
    home: settings.home,
    stores,
    redact,
    clock,
    log,
    ...(modelTimeout && { modelTimeout }),
  };
  let current = createComponents(config, shared);
  const parts = (): Components => current;

  // 6. Incoming messages and outgoing replies.
  const report = stores.contract.note;
  const { actions } = stores;
  const pairing = new PairingDesk({
    stores: stores.pairing,
    waiting,
    onWaiting: () => notices.expect(),
    log,
  });
  const { devices, outbox } = stores;
  const asking = { parts, stores: stores.pairing, devices, outbox, actions, clock, log };
  const admissions = new AdmissionQuestions(asking);
  const commands = new Commands({ parts, sessions, usage, clock });
  const reading = () => ({ media: parts().media, contextTokens: parts().config.models.contextTokens });
  const replies = new Replies({ records, firstWords, actions, report, reading, clock, log });
  const inbox = new Inbox({
    parts,
    pairing,
    admissions,
    actions,
    commands,
    sessions,
    records,
    report,
    replies,
    clock,
    log,
  });
  const inTurn: InTurn = (session, work) => inbox.inTurn(session, work);
  const notices = new ApprovalNotices({ parts, stores: stores.pairing, waiting, clock, log });
  const schedules = new Schedules({
    store: stores.schedules,
    say: createAnnounce({ parts, records, replies, inTurn, clock }),
    serves: environment[TENANT_VARIABLE],
    clock,
    setTimer,
    log,
  });
  const history = new ChatHistory(stores.database);
  const chat = new WebChat({
    agent: () => parts().agent,
    operators: () => namedOperators(parts().config, "web"),
    reading,
    commands,
    sessions,
    history,
    outbox,
    actions,
    admissions,
    workspace,
    clock,
    log,
  });
  const { controlToken } = settings;
  const sockets = new ChatSockets({ controlToken, devices, chat, clock, log });
  const rules = () => parts().config.sessions.retention;
  const retention = new Retention({ database: stores.database, rules, clock, log });
  const probe = new Probe({ parts, environment, redact, fetch, clock, log });

  // 7. Config changes at runtime. Work in progress finishes with the components it started with.
  const reload = new ConfigReload({
    path: settings.configPath,
    version,
    environment,
    redact,
    clock,
    log,
    onConfig: (changed) => {
      known.add(changed.secrets);
      const former = current;
      current = createComponents(changed.config, shared);
      log.setLevel(settings.logLevel ?? changed.config.logging.level);
      void former.close();
      probe.start();
      schedules.sync(changed.config);
      void retention.look();
    },
  });

  // 8. HTTP server. It listens last, so a response means that the gateway is ready.
  const since = new Date(clock()).toISOString();
  const home = homeName(settings.home);
  const statusToken = randomBytes(32).toString("hex");
  const statusTokenPath = join(settings.home, STATUS_TOKEN_FILE);
  known.add([statusToken]);
  const stop = new AbortController();
  const openApp = async () =>
    (await import("./http/app.ts")).gatewayApp({
      controlToken: settings.controlToken,
      statusToken,
      inbox,
      firstWordAt: (event) => firstWords.firstWordAt(recordName(event)),
      chatFile: ({ ticket, item }) => chat.file(ticket, item),
      replayRecord: async (deliveries) => {
        await reload.reload();
        const { createReplayRecord } = await import("./replay/record.ts");
        const { config, channels } = parts();
        const { pairing: approvals, moves } = stores;
        const key = randomBytes(32);
        const now = (): number => performance.now();
        return createReplayRecord(deliveries, { config, channels, pairing: approvals, moves, key, now });
      },
      configTaken: () => reload.reload(),
      status: () => gatewayStatus({ since, parts, stores, inbox, schedules, reload, retention, clock }),
      usage: () => usageReport(stores, parts().config, clock()),
      config: () => parts().config,
      environment,
      parts,
      replies,
      inTurn,
      signal: stop.signal,
      clock,
      log,
    });
  let app: ReturnType<typeof openApp> | undefined;
  const server = await listen({
    fetch: async (request) => (await (app ??= openApp())).fetch(request),
    atOnce: {
      [GATEWAY_ROUTES.live]: () => ({ ok: true }),
      // The supervisor identifies its gateway by `pid`; the CLI identifies a gateway by `home`.
      [GATEWAY_ROUTES.ready]: () => ({ ready: true, version: VERSION, pid: process.pid, home }),
    },
    hostname: settings.bind,
    port: settings.gatewayPort,
    taken: "inner_port_in_use",
    onUpgrade: (request, socket, head) => sockets.upgrade(request, socket, head),
  });

  // 9. Ready. The CLI in the container reads the status with this token.
  writeFileSync(statusTokenPath, statusToken, { mode: 0o600 });
  notices.start();
  schedules.start(config);
  probe.start();
  reload.start();
  retention.start();
  log.info("gateway ready", { port: server.port, version: VERSION, model: parts().models.primary });
  return {
    port: server.port,
    reload: () => reload.reload({ force: true }),
    close: async ({ graceMs = DRAIN_MS } = {}) => {
      log.info("gateway stopping", { active: inbox.active });
      probe.stop();
      await Promise.all([
        inbox.drain(graceMs),
        chat.drain(graceMs),
        notices.stop(graceMs),
        schedules.stop(graceMs),
        reload.stop(),
        retention.stop(),
      ]);
      rmSync(statusTokenPath, { force: true });
      sockets.close();
      stop.abort();
      await server.close(Math.min(CLOSE_MS, graceMs));
      await parts().close();
      stores.database.close();
    },
  };
}

function setTimer(work: () => void, ms: number): () => void {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
}
