import type { Container, DurableObjectState } from "@cloudflare/workers-types/index.ts";
import { ChatExports } from "../backups/chat-exports.ts";
import { ChatReturns } from "../backups/chat-returns.ts";
import { ContainerBackups } from "../backups/container-backups.ts";
import { AWAIT_RESTORE_VARIABLE } from "../contract/backup.ts";
import { type EdgeSettings, gatewayVariables, type Environment } from "../contract/environment.ts";
import { StewardError } from "../contract/errors.ts";
import { AGENT, FROM_SOURCE, VERSION } from "../contract/names.ts";
import { BROKER_VARIABLE } from "../contract/services.ts";
import { chatOfTenant, isTenantId, stateKeys, type TenantChat, type TenantId } from "../contract/tenant.ts";
import { BUNDLE_VARIABLE, REST_TENANT, TENANT_VARIABLE } from "../contract/variables.ts";
import { Alerts } from "../edge/alerts.ts";
import { ChatRelay } from "../edge/chat-relay.ts";
import { createBroker } from "../edge/broker.ts";
import { readLog } from "../edge/cached-log.ts";
import { DueSchedule } from "../edge/due-schedule.ts";
import type { Clock } from "../edge/ports.ts";
import { ActivityStore } from "../edge/ledger/activity.ts";
import { AnswerStore } from "../edge/ledger/answers.ts";
import { SignatureStore } from "../edge/ledger/signatures.ts";
import { LedgerStore } from "../edge/ledger/store.ts";
import { forgetDecision, type Gate, forwardingGate, TenantGate } from "../edge/tenants/gate.ts";
import type { Grant } from "../edge/tenants/ports.ts";
import { TenantReporter } from "../edge/tenants/reporter.ts";
import { brokerPath, tenantOfEvent } from "../edge/tenants/routing.ts";
import { Agenda, agendaItems } from "./agenda.ts";
import { Alarm, Backoff } from "./alarm.ts";
import { ContainerMemory } from "./container-memory.ts";
import { ContainerPorts } from "./container-ports.ts";
import { SandboxContainer } from "./container.ts";
import { durableSql } from "./durable-sql.ts";
import { DutyCycle } from "./duty-cycle.ts";
import { consoleLog, emailOf, readWorker, type WorkerEnvironment } from "./environment.ts";
import { ContainerGateway } from "./gateway.ts";
import { ContainerLedger } from "./ledger.ts";
import { unwrap } from "./rpc.ts";
import { ScheduledChats } from "./scheduled-chats.ts";
import { Sleep } from "./sleep.ts";
import { remoteDirectory } from "./tenants.ts";

const KEEP_LOG_LIMIT_MS = 3_000;
const RESTART_BACKOFF = { firstMs: 1_000, longestMs: 60_000 };

/**
 * Time span, in milliseconds, of each report on recently seen people and chats. Spans overlap, because a report may
 * be lost.
 */
const REPORTED_MS = 5 * 60_000;
const MAX_REPORTED = 20;

export type SandboxParts = ReturnType<typeof assemble>;

/**
 * Builds the Durable Object's parts in the order of their dependencies.
 *
 * @throws StewardError `environment_invalid`; `data_newer` or `data_older` if this version cannot read the ledger.
 */
export function assemble(ctx: DurableObjectState, env: WorkerEnvironment) {
  const { variables, settings } = readWorker(env);
  const ownTenant = namedTenant(ctx);
  const tenant = settings.tenancy === "chat" ? ownTenant : undefined;
  const { sleepAfterMs } = settings;
  const clock = Date.now;
  const log = consoleLog(variables);
  const waitUntil = (promise: Promise<unknown>): void => ctx.waitUntil(promise);
  const background = { waitUntil, clock, log };

  const sql = durableSql(ctx.storage);
  const memory = new ContainerMemory(sql);
  const store = new LedgerStore(sql);
  const activity = new ActivityStore(sql, clock);
  const answers = new AnswerStore(sql, clock);
  const signatures = new SignatureStore(sql, clock);
  activity.deployed(VERSION, variables[BUNDLE_VARIABLE] ?? FROM_SOURCE);
  const alarm = new Alarm({ storage: ctx.storage, waitUntil });
  const loaded = ctx.blockConcurrencyWhile(() => alarm.load());
  const agenda = new Agenda({ alarm, clock, log });

  // The gate lets only admitted chats start their containers.
  const gate =
    tenant === undefined
      ? undefined
      : new TenantGate({
          tenant,
          directory: remoteDirectory(env),
          notes: memory,
          run: () => ({ id: memory.read("startedAt") ?? "", backedUpAt: state.lastAt }),
          clock,
        });

  const platform = (): Container => containerOf(ctx);
  const ports = new ContainerPorts({ container: platform, notes: memory });
  const stored = {
    bucket: env.STATE,
    // Use `ownTenant` even with a shared sandbox: a chat's old container must not write to the shared state.
    keys: stateKeys(ownTenant),
    sharesConfig: ownTenant !== undefined,
    onConfig: () => {
      if (settings.tenancy !== "chat") return;
      // Best effort: chats that miss this call check the config themselves while awake.
      waitUntil(
        remoteDirectory(env)
          .configChanged()
          .catch(() => undefined),
      );
      scheduled.changed();
      agenda.schedule();
    },
    notes: memory,
    ...background,
  };
  const servesAll = ownTenant === undefined && settings.tenancy === "shared";
  const handOver = (to: TenantId) => unwrap(env.SANDBOX.getByName(to).handOver());
  const state: ContainerBackups = new ContainerBackups({
    ...stored,
    ports,
    returns: servesAll ? new ChatReturns({ ...stored, ports, handOver }) : undefined,
    running: () => platform().running,
    // `gateway` is assigned below; no backup is requested before that.
    whenRestored: () => gateway.whenRestored(),
  });
  const duty = new DutyCycle({ ...stored, sleepAfterMs });
  const container = new SandboxContainer({
    platform,
    ports,
    memory,
    environment: containerEnvironment(variables, settings, tenant),
    state,
    keepLog: () => keepLog(),
    recoversConfig: settings.configRecovery === "auto",
    onStart: () => {
      duty.started();
      exports.forget();
      reporter?.runChanged();
      agenda.schedule();
    },
    onStop: () => {
      duty.ended();
      reporter?.runChanged();
      agenda.schedule();
    },
    onRefusal: () => {
      if (settings.tenancy === "chat")
        waitUntil(
          remoteDirectory(env)
            .makeRoom(tenant ?? AGENT)
            .catch(() => false),
        );
    },
    mayRun: () => (gate === undefined ? ownTenant === undefined : gate.mayRun),
    prepare: async () => {
      if (tenant === undefined || memory.read("moved") === "yes") return;
      await unwrap(env.SANDBOX.getByName(AGENT).moveOut(tenant));
      memory.write("moved", "yes");
    },
    mayRenew: async () => tenant === undefined || remoteDirectory(env).mayRenew(tenant),
    clock,
    log,
  });
  const exports = new ChatExports({ ...stored, ports, container, service: state.service });
  const scheduled = new ScheduledChats({
    notes: memory,
    find: () => exports.scheduled(),
    begin: (one) => unwrap(env.SANDBOX.getByName(one).beginSchedules()),
    clock,
    log,
  });
  if (ownTenant === undefined && recordTenancy(memory, settings, clock)) scheduled.changed();
  const restart = new Backoff(RESTART_BACKOFF);
  const gateway = new ContainerGateway({
    container,
    ports,
    memory,
    sleepAfterMs,
    onReady: () => {
      restart.recovered();
      // Send pending permission changes: a gateway started by a schedule has not received them.
      if (gate) waitUntil(gate.passOnGrant(gateway).catch(() => false));
    },
    onUse: () => {
      reporter?.touch();
      agenda.schedule();
    },
    // Back up immediately: an older backup would restore a revoked approval.
    onChange: () => state.pollNow(),
    waitUntil,
    clock,
  });

  const keepLog = (): Promise<unknown> =>
    readLog(
      gateway,
      {
        keepAnswer: async (question, text) => answers.keep(question, text),
        lastAnswer: async (question) => answers.last(question),
      },
      KEEP_LOG_LIMIT_MS,
    );

  const reporter: TenantReporter | undefined =
    tenant === undefined
      ? undefined
      : new TenantReporter({
          tenant,
          read: async () => {
            const { state: now, version, reason: problem = state.refusedConfig } = await gateway.status();
            return {
              running: now !== "stopped",
              version,
              counts: store.counts(),
              usedAt: gateway.usedAt,
              problem,
              names: store.names.seenSince(clock() - REPORTED_MS, MAX_REPORTED),
            };
          },
          send: (...report) => remoteDirectory(env).report(...report),
          clock,
          log,
        });
  const ledger = new ContainerLedger({
    store,
    gate: gate ?? drainingGate(settings, ownTenant),
    passOn: (to, event) => unwrap(env.SANDBOX.getByName(to).admit(event)),
    container,
    gateway,
    environment: variables,
    record: (entry) => activity.record(entry),
    wakeAt: (time) => alarm.wakeAt(time),
    onRecord: () => agenda.schedule(),
    ...background,
  });
  const chat = new ChatRelay({
    onUse: () => gateway.renewActivityTimeout(),
    onDevice: (...device) => memory.noteBrowser(...device),
  });
  const broker = createBroker({
    environment: variables,
    chat: writableChat(settings, ownTenant, memory),
    isReplaced: () => container.isOutdated,
    token: () => (container.running ? (memory.read("brokerToken") ?? "") : ""),
    fetch: (url, init) => fetch(url, init),
    log,
  });
  const schedule = new DueSchedule({ memory, sandbox: gateway, clock });
  const alerts =
    settings.alerts &&
    new Alerts({
      // A chat's Durable Object adds its tenant id to the deployment name in its alerts.
      settings:
        tenant === undefined
          ? settings.alerts
          : { ...settings.alerts, name: `${settings.alerts.name} ${tenant}` },
      fetch: (input, init) => fetch(input, init),
      sendEmail: emailOf(env),
      neverSleeps: !gateway.sleeps,
      sandbox: gateway,
      backups: state.service,
      oldestEvent: () => store.oldestOpen(),
      memory: { read: () => memory.read("alerts"), write: (text) => memory.write("alerts", text) },
      clock,
      log,
    });
  const sleep = new Sleep({ store, ledger, schedule, container, gateway, state, chat, clock });
  agenda.fill(
    agendaItems({
      alerts,
      store,
      ledger,
      schedule,
      container,
      gateway,
      restart,
      duty,
      state,
      sleep,
      reporter,
      scheduled,
      keepLog,
      ...background,
    }),
  );
  // Wait until the alarm is loaded: before that, a due alarm could be replaced.
  waitUntil(Promise.all([loaded, container.adopted]).then(() => agenda.schedule()));
  const beginSchedules = async (): Promise<void> => {
    gate?.expectSchedules();
    if (tenant === undefined || gate?.mayRun !== true) return;
    await remoteDirectory(env).meet(tenant);
    gateway.renewActivityTimeout();
    const { state: now, reason } = await container.whenReady();
    gateway.renewActivityTimeout();
    if (now !== "ready") throw new StewardError(reason?.code ?? "gateway_not_ready", reason?.detail);
  };
  const changeRights = async (grant: Grant): Promise<void> => {
    const changed = gate?.change(grant, gateway);
    // Start the chat's gateway, so that it reports its schedules, which may be new or overdue.
    if (grant.role !== undefined && gate?.expectsSchedules === true && schedule.startAt === undefined)
      waitUntil(
        beginSchedules().catch((error: unknown) =>
          log.warn("a chat's schedules could not be started", { error: String(error) }),
        ),
      );
    agenda.schedule();
    await changed;
  };
  return {
    store,
    ledger,
    activity,
    answers,
    signatures,
    gateway,
    state,
    chat,
    upgrade: (path: string, headers: Record<string, string>) => ports.upgrade(path, headers),
    broker,
    duty,
    agenda,
    exports,
    servedAllSince: async () =>
      (await exports.hasState()) ? (memory.read("servesAllSince") ?? "unknown") : undefined,
    handOver: async () => {
      if (tenant !== undefined)
        throw new StewardError("gateway_unavailable", "The chat has its own sandbox.");
      // If the chat gets its own sandbox again, its state is moved and its access decided again.
      memory.write("moved", "");
      forgetDecision(memory);
      await container.whenDrained();
    },
    beginSchedules,
    changeRights,
    wakeFor: async (deviceId: string) => memory.consumeBrowser(deviceId) && gateway.wake("operator"),
    gate,
    sleep,
  };
}

/**
 * Records the tenancy.
 *
 * @returns true if the tenancy has just changed to one sandbox per chat
 */
function recordTenancy(memory: ContainerMemory, { tenancy }: EdgeSettings, clock: Clock): boolean {
  if (memory.read("tenancy") === tenancy) return false;
  if (tenancy === "shared") memory.write("servesAllSince", new Date(clock()).toISOString());
  memory.write("tenancy", tenancy);
  return tenancy === "chat";
}

/**
 * Returns a gate that forwards the object's remaining events to the objects that now serve their chats; `undefined` if
 * this object serves chats in the current tenancy.
 */
function drainingGate({ tenancy }: EdgeSettings, ownTenant: TenantId | undefined): Gate | undefined {
  if (ownTenant !== undefined) return tenancy === "shared" ? forwardingGate(() => AGENT) : undefined;
  return tenancy === "chat" ? forwardingGate(tenantOfEvent) : undefined;
}

/** Returns the tenant in the object's name; `undefined` for the deployment's object. */
function namedTenant({ id }: DurableObjectState): TenantId | undefined {
  // The name is set even in alarms:
  // https://developers.cloudflare.com/changelog/post/2026-03-15-durable-object-id-name/
  return id.name !== undefined && isTenantId(id.name) ? id.name : undefined;
}

function containerOf({ container }: DurableObjectState): Container {
  if (container === undefined)
    throw new StewardError("gateway_unavailable", "This Durable Object class is not container-enabled.");
  return container;
}

/**
 * Returns the only chat that the container may write to; `undefined` for all chats. With one sandbox per chat, the
 * deployment's own container may write to none, so its chat has an empty id.
 */
function writableChat(
  { tenancy }: EdgeSettings,
  tenant: TenantId | undefined,
  memory: ContainerMemory,
): TenantChat | undefined {
  if (tenant === undefined) return tenancy === "shared" ? undefined : { platform: "web", chat: "" };
  const { platform, chat } = chatOfTenant(tenant);
  return {
    platform,
    // A group that becomes a supergroup gets a new id but keeps its Durable Object.
    get chat() {
      return memory.read("chat") ?? chat;
    },
  };
}

/**
 * Returns the container's variables. If they include the broker's address, every container start replaces API keys
 * with broker passes.
 */
function containerEnvironment(
  variables: Environment,
  { tenancy }: EdgeSettings,
  tenant: TenantId | undefined,
): Record<string, string> {
  const { PUBLIC_ORIGIN: origin } = variables;
  return {
    ...gatewayVariables(variables),
    [AWAIT_RESTORE_VARIABLE]: "true",
    ...(tenancy === "chat" && { [TENANT_VARIABLE]: tenant ?? REST_TENANT }),
    ...(origin && { [BROKER_VARIABLE]: `${origin}${brokerPath(tenant)}` }),
  };
}
