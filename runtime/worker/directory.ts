import type { DurableObjectState } from "@cloudflare/workers-types/index.ts";
import { DurableObject } from "cloudflare:workers";
import type { OperationRequest } from "../contract/control.ts";
import type { Delivery } from "../contract/delivery.ts";
import { AGENT } from "../contract/names.ts";
import { APPROVALS_KEY, stateKeys, type TenantId } from "../contract/tenant.ts";
import type { NewDevice } from "../shared/devices.ts";
import type { NameQuery, Sighting } from "../edge/ports.ts";
import type { TenantQuery, TenantReport } from "../edge/tenants/ports.ts";
import { TenantReception } from "../edge/tenants/reception.ts";
import { Waves } from "../edge/tenants/waves.ts";
import { Alarm } from "./alarm.ts";
import { ContainerMemory } from "./container-memory.ts";
import { durableSql } from "./durable-sql.ts";
import { consoleLog, readWorker, type WorkerEnvironment } from "./environment.ts";
import { toResult, unwrap } from "./rpc.ts";
import { remoteSandbox } from "./tenants.ts";

/** Maximum number of tenants that are asked to sleep, to free a container for another tenant. */
const MAX_ASKED = 20;

/**
 * Durable Object that tracks the tenants and who may write to the bot. It is used only if each chat has its own
 * sandbox. Messages of admitted chats bypass it.
 */
export class Directory extends DurableObject<WorkerEnvironment> {
  readonly #reception: TenantReception;
  readonly #alarm: Alarm;
  readonly #waves: Waves;
  /** By the chat that wants room. */
  readonly #rooms = new Map<TenantId, Promise<boolean>>();

  constructor(ctx: DurableObjectState, env: WorkerEnvironment) {
    super(ctx, env);
    const { variables, settings } = readWorker(env);
    const sql = durableSql(ctx.storage);
    this.#alarm = new Alarm({ storage: ctx.storage, waitUntil: (work) => ctx.waitUntil(work) });
    void ctx.blockConcurrencyWhile(() => this.#alarm.load());
    this.#reception = new TenantReception({
      sql,
      notes: new ContainerMemory(sql),
      environment: variables,
      readConfig: async () => (await env.STATE.get(stateKeys().config))?.text(),
      sandbox: remoteSandbox(env, AGENT),
      servedAllSince: () => unwrap(env.SANDBOX.getByName(AGENT).servedAllSince()),
      storeApprovals: async (approvals) =>
        void (await env.STATE.put(APPROVALS_KEY, JSON.stringify(approvals))),
      changeRights: (tenant, grant) => unwrap(env.SANDBOX.getByName(tenant).changeRights(grant)),
      changeBrowser: (tenant, role) => unwrap(env.SANDBOX.getByName(tenant).changeBrowser(role)),
      wakeAt: (time) => this.#alarm.wakeAt(time),
      fetch: (url, init) => fetch(url, init),
      clock: Date.now,
      log: consoleLog(variables),
    });
    const { roster } = this.#reception;
    this.#waves = new Waves({
      sql,
      version: env.VERSION?.id ?? "",
      canaries: settings.canaryTenants,
      knows: (tenant) => roster.has(tenant),
      isWell: (tenant) => roster.isWell(tenant),
      look: (tenant) => unwrap(env.SANDBOX.getByName(tenant).lookAsDeployed()),
      clock: Date.now,
    });
  }

  introduce(tenant: TenantId, event: Delivery) {
    return toResult(() => this.#reception.introduce(tenant, event));
  }

  enter(device: NewDevice, known?: string) {
    return toResult(() => this.#reception.enter(device, known));
  }

  meet(tenant: TenantId) {
    return toResult(() => this.#reception.roster.meet(tenant));
  }

  report(tenant: TenantId, report: TenantReport) {
    return toResult(() => this.#reception.report(tenant, report));
  }

  moved(tenant: TenantId, to: TenantId) {
    return toResult(() => this.#reception.roster.move(tenant, to));
  }

  knows(tenant: TenantId) {
    return toResult(() => this.#reception.roster.has(tenant));
  }

  tenants(query: TenantQuery) {
    return toResult(() => this.#reception.roster.list(query));
  }

  totals() {
    return toResult(() => this.#reception.roster.totals());
  }

  makeRoom(wanting: TenantId) {
    return toResult(() => {
      // A refused chat asks again while another one makes its final backup.
      const room = this.#rooms.get(wanting) ?? this.#makeRoom(wanting);
      this.#rooms.set(wanting, room);
      return room.finally(() => this.#rooms.delete(wanting));
    });
  }

  async #makeRoom(wanting: TenantId): Promise<boolean> {
    // Ask only the least recently used chats to sleep: the others are more likely to be busy. Ask the deployment's
    // sandbox last, because its work concerns all chats.
    const idle = this.#reception.roster.running().filter((one) => one !== wanting);
    for (const tenant of [...idle.slice(0, MAX_ASKED), AGENT].filter((one) => one !== wanting)) {
      const object = this.env.SANDBOX.getByName(tenant);
      if (await unwrap(object.sleepEarly())) return true;
    }
    return false;
  }

  configChanged() {
    return toResult(async () => {
      const told = this.#reception.roster
        .running()
        .map((one) => unwrap(this.env.SANDBOX.getByName(one).followConfig()));
      await Promise.allSettled(told);
    });
  }

  names(keys: readonly string[]) {
    return toResult(() => this.#reception.names.names(keys));
  }

  entries(query: NameQuery) {
    return toResult(() => this.#reception.names.entries(query));
  }

  noteNames(sightings: readonly Sighting[]) {
    return toResult(() => this.#reception.names.record(sightings, Date.now()));
  }

  mayRenew(tenant: TenantId) {
    return toResult(() => this.#waves.mayRenew(tenant));
  }

  renewal({ look }: { look: boolean }) {
    return toResult(async () => {
      if (look) await this.#waves.look();
      return this.#waves.progress();
    });
  }

  operate(request: OperationRequest) {
    return toResult(() => this.#reception.operate(request));
  }

  async alarm(): Promise<void> {
    this.#alarm.markFired();
    await this.#reception.flush();
  }
}
