import { randomBytes } from "node:crypto";
import path from "node:path";
import { ATTESTATION_KEY_VARIABLE, attestationOf } from "../contract/attestation.ts";
import {
  gatewayVariables,
  readEdgeSettings,
  type EdgeSettings,
  type Environment,
} from "../contract/environment.ts";
import { StewardError } from "../contract/errors.ts";
import { createLog, readableLine } from "../shared/log.ts";
import { createRedactor } from "../shared/redact.ts";
import { VERSION } from "../contract/names.ts";
import { BROKER_PATH, BROKER_VARIABLE, withPasses } from "../contract/services.ts";
import { REST_TENANT, TENANT_VARIABLE, trimmedVariables } from "../contract/variables.ts";
import { chosenTenant } from "../edge/admin/tenants.tsx";
import { adminTokenAccess } from "../edge/sign-in.tsx";
import { createEdge, type EdgeOptions } from "../edge/app.ts";
import { createBroker } from "../edge/broker.ts";
import { ActivityStore } from "../edge/ledger/activity.ts";
import { AnswerStore } from "../edge/ledger/answers.ts";
import { SignatureStore } from "../edge/ledger/signatures.ts";
import { ChatNotifier } from "../edge/ledger/chat-notifier.ts";
import { accessIdentity } from "../edge/identity.ts";
import { once } from "../shared/once.ts";
import type { ActivityEntry } from "../edge/ports.ts";
import { EdgesByChat } from "../edge/tenants/edges.ts";
import { fatalReport, onStopRequest } from "../process/stop.ts";
import { ensureDirectory } from "../process/files.ts";
import { listen, yieldForHangUp } from "../process/listen.ts";
import { readProcessSettings, type ProcessSettings } from "../process/settings.ts";
import { reduceMemoryUse } from "../process/memory.ts";
import { startAfterRestore } from "../supervisor/begin.ts";
import { cliCommand, gatewayCommand, runningBundle } from "../supervisor/gateway-command.ts";
import { createSupervisor } from "../supervisor/supervisor.ts";
import { systemTimers } from "../supervisor/timers.ts";
import { hostAlerts } from "./alerts.ts";
import { readAsset } from "./assets.ts";
import { hostBackups } from "./backups.ts";
import { discordIntake } from "./discord/intake.ts";
import { chatProxy } from "./chat-proxy.ts";
import { browserPages } from "./tenants/pages.ts";
import { configuredProxy, proxyClients } from "./proxy.ts";
import { createLedger, openSqlite } from "./ledger.ts";
import { supervisedSandbox } from "./sandbox.ts";
import { telegramIntake } from "./telegram/intake.ts";
import { startWithChatData } from "./tenants/returns.ts";
import { HostTenancy } from "./tenants/tenancy.ts";
import { TenantUsers } from "./tenants/users.ts";
import { isTerminal, print, printError } from "../shared/terminal.ts";

const CLOSE_MS = 1_000;
/** Time for the gateway to stop, in milliseconds. It needs up to 7 s to finish its answers. */
const GATEWAY_STOP_MS = 8_000;
const RECORD_MS = 250;

function edgeSettings(environment: Environment): EdgeSettings {
  const result = readEdgeSettings(environment);
  if (!result.ok) throw new StewardError("environment_invalid", result.problems.join("; "));
  return result.settings;
}

/**
 * Returns the access check: the identity gateway if configured, otherwise ADMIN_TOKEN with a sign-in page. With
 * neither, everyone is refused.
 */
function hostAccess(
  { teamDomain, audience }: EdgeSettings,
  adminToken: string | undefined,
): Pick<EdgeOptions, "identify" | "signIn"> {
  const configured = teamDomain !== undefined || audience !== undefined;
  return configured || !adminToken
    ? { identify: accessIdentity({ teamDomain, audience }) }
    : adminTokenAccess({ adminToken, clock: Date.now });
}

/**
 * Returns the environment for the gateway's process: the gateway's and Node's variables, with broker passes instead
 * of API keys.
 */
function childEnvironment(environment: Environment, broker: { address: string; token: string }): Environment {
  const system = Object.entries(environment).filter(([name]) => /^(PATH|HOME|TZ|LANG|NODE_.*)$/.test(name));
  const own = withPasses(
    { ...gatewayVariables(environment), [BROKER_VARIABLE]: broker.address },
    broker.token,
  );
  return { ...Object.fromEntries(system), ...own, STEWARD_BIND: "127.0.0.1" };
}

function ownOrigin({ bind, edgePort }: ProcessSettings): string {
  const isEvery = bind === "0.0.0.0" || bind === "::";
  const host = isEvery ? "127.0.0.1" : bind.includes(":") ? `[${bind}]` : bind;
  return `http://${host}:${edgePort}`;
}

// Restrict everything below the data directory to this user.
process.umask(0o077);
// Trim the variables before the redactor or anything else reads them.
Object.assign(process.env, trimmedVariables(process.env));
const redact = createRedactor(process.env);
const forOutput = isTerminal() ? readableLine : (line: string) => line;
const write = (line: string): void => print(`${forOutput(line)}\n`);
try {
  // 1. Validate the settings before changing any data.
  const settings = readProcessSettings(process.env);
  const edge = edgeSettings(process.env);
  const controlToken = randomBytes(32).toString("hex");
  const brokerToken = randomBytes(32).toString("hex");
  const bundle = runningBundle();
  const log = createLog({ name: "edge", level: settings.logLevel ?? "info", redact, write });

  // 2. Drop root privileges if chats have separate users. Then open the ledger's database.
  const users = edge.tenancy === "chat" ? TenantUsers.take(settings.home) : undefined;
  ensureDirectory(settings.home);
  const sql = openSqlite(path.join(settings.home, "state.db"), (report) =>
    log.error("a store could not be read and was set aside", { ...report }),
  );

  // 3. Start the gateway, which only this process can reach.
  const { configPath } = settings;
  const commands = { command: gatewayCommand(), cli: cliCommand() };
  const environmentFor = ({ path: place = BROKER_PATH, token }: { path?: string; token: string }) =>
    childEnvironment(process.env, { address: `${ownOrigin(settings)}${place}`, token });
  const supervisor = createSupervisor({
    ...commands,
    environment: {
      ...environmentFor({ token: brokerToken }),
      ...(users && { [TENANT_VARIABLE]: REST_TENANT }),
    },
    home: settings.home,
    user: users?.base,
    gatewayPort: settings.gatewayPort,
    controlToken,
    bundle,
    log,
    onOutput: write,
    stopGraceMs: GATEWAY_STOP_MS,
    ledgerProblem: () => sql.problem(),
    bootMs: performance.now(),
  });
  const brokering = {
    environment: process.env,
    fetch,
    proxy: {
      address: configuredProxy(configPath, process.env),
      client: proxyClients({ clock: Date.now }),
    },
    log,
  };
  // If each chat has its own gateway, keep the deployment's gateway from writing to any chat.
  const noChat = users && ({ platform: "web", chat: "" } as const);
  const broker = createBroker({ ...brokering, chat: noChat, token: () => brokerToken });
  const sandbox = supervisedSandbox({ supervisor, broker, controlToken, log });
  const activity = new ActivityStore(sql, Date.now);
  const record = (entry: Omit<ActivityEntry, "at">): void => activity.record(entry);
  const tenancy =
    users &&
    new HostTenancy({
      sql,
      home: settings.home,
      stores: (folder) => supervisor.backups(folder),
      sandbox,
      record,
      maxSandboxes: edge.maxSandboxes,
      sleepAfterMs: edge.sleepAfterMs,
      users,
      configPath,
      logs: path.join(settings.home, "logs", "tenants"),
      commands,
      environment: environmentFor,
      broker: brokering,
      bundle,
      onOutput: write,
      clock: Date.now,
      log,
    });
  const notifier = new ChatNotifier({ sandbox, environment: process.env, fetch });
  const ledger = createLedger({
    sql,
    supervisor,
    sandbox,
    notify: tenancy?.notify ?? ((...told) => notifier.notify(...told)),
    record,
    tenancy,
    clock: Date.now,
    log,
  });
  // Record the deployment only if the ledger has accepted the database: it refuses those of newer versions.
  activity.deployed(VERSION, bundle);
  const answers = new AnswerStore(sql, Date.now);
  const signatures = new SignatureStore(sql, Date.now);
  const fetched = { configPath, environment: process.env, sql, ledger, clock: Date.now, log };
  const intakes = [telegramIntake(fetched), discordIntake(fetched)];
  const backups = hostBackups({
    supervisor,
    home: settings.home,
    copyChats: async () => tenancy?.copyChats(),
    timers: systemTimers,
    log,
  });
  if (edge.configRecovery === "auto") backups.recoverConfigs();
  const alerts =
    edge.alerts && hostAlerts({ settings: edge.alerts, home: settings.home, sandbox, backups, ledger, log });
  const begun = users
    ? startAfterRestore({ supervisor, home: settings.home, awaitsData: false, log })
    : startWithChatData({ supervisor, home: settings.home, clock: Date.now, log });

  // 4. Listen for requests to the edge.
  const access = hostAccess(edge, process.env["ADMIN_TOKEN"]);
  const deployment: EdgeOptions = {
    settings: edge,
    tenants: tenancy?.tenants,
    bundle,
    attestation: attestationOf(process.env),
    stackKey: process.env[ATTESTATION_KEY_VARIABLE],
    ledger,
    directory: ledger,
    activity: {
      record: async (entry) => activity.record(entry),
      activity: async (limit, actions) => activity.list(limit, actions),
    },
    answers: {
      keepAnswer: async (question, text) => answers.keep(question, text),
      lastAnswer: async (question) => answers.last(question),
    },
    signatures: { useSignature: async (mac, expiresAt) => signatures.use(mac, expiresAt) },
    sandbox: tenancy?.asShown(sandbox) ?? sandbox,
    ...(tenancy && { browserSandbox: tenancy.sandboxOf }),
    backups,
    broker: async (request) => {
      await yieldForHangUp(request.signal);
      return tenancy?.answerBroker(request) ?? broker.handle(request);
    },
    readAsset,
    ...access,
    clock: Date.now,
    log,
  };
  const edges = new EdgesByChat<ReturnType<typeof createEdge>>();
  const shared = once(() => createEdge(deployment));
  const edgeOf = (request: Request) => {
    const tenant = tenancy && chosenTenant(request);
    if (tenancy === undefined || tenant === undefined) return shared();
    return edges.of(tenant, () => createEdge(tenancy.edgeOf(tenant, deployment)));
  };
  const server = await listen({
    fetch: (request, client) => edgeOf(request).fetch(request, client),
    hostname: settings.bind,
    port: settings.edgePort,
    onUpgrade: tenancy
      ? browserPages(tenancy.browsers)
      : chatProxy({ supervisor, gatewayPort: settings.gatewayPort, controlToken }),
  }).catch(async (error: unknown) => {
    await supervisor.stop();
    throw error;
  });

  // 5. Install the stop handler. Container engines usually kill the process 10 s after the stop request. The next
  // start completes interrupted restores and answers.
  onStopRequest(process.env, async () => {
    backups.stop();
    alerts?.stop();
    await Promise.all([server.close(CLOSE_MS), ...intakes.map((intake) => intake.stop())]);
    const recorded = ledger.close();
    await Promise.all([supervisor.stop(), tenancy?.stop()]);
    await Promise.race([recorded, new Promise((resolve) => setTimeout(resolve, RECORD_MS))]);
    sql.close();
    process.exit(0);
  });

  for (const intake of intakes) intake.start();
  tenancy?.start(ledger);
  backups.start();
  log.info("steward listens", { address: settings.bind, port: server.port });
  reduceMemoryUse();
  await begun;
} catch (error) {
  printError(fatalReport(error, redact));
  process.exitCode = 1;
}
