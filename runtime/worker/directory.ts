import type { DurableObjectState } from "@cloudflare/workers-types/index.ts";
import { DurableObject } from "cloudflare:workers";
import type { OperationRequest } from "../contract/control.ts";
import type { Delivery } from "../contract/delivery.ts";
import { AGENT } from "../contract/names.ts";
import { stateKeys, type TenantId } from "../contract/tenant.ts";
import type { TenantQuery, TenantReport } from "../edge/tenants/ports.ts";
import { TenantReception } from "../edge/tenants/reception.ts";
import { Alarm } from "./alarm.ts";
import { ContainerMemory } from "./container-memory.ts";
import { durableSql } from "./durable-sql.ts";
import { consoleLog, readWorker, type WorkerEnvironment } from "./environment.ts";
import { answer, received } from "./rpc.ts";
import { remoteSandbox } from "./tenants.ts";

/**
 * Knows the tenants of a deployment in which each chat has a sandbox of its own, and who may write to the bot. It sees a
 * chat's first message only: what follows goes to the chat's own object.
 */
export class Directory extends DurableObject<WorkerEnvironment> {
  readonly #reception: TenantReception;
  readonly #alarm: Alarm;
  readonly #notes: ContainerMemory;
  readonly #canaries: readonly TenantId[];

  constructor(ctx: DurableObjectState, env: WorkerEnvironment) {
    super(ctx, env);
    const { variables, settings } = readWorker(env);
    this.#canaries = settings.canaryTenants;
    const sql = durableSql(ctx.storage);
    this.#alarm = new Alarm({ storage: ctx.storage, waitUntil: (work) => ctx.waitUntil(work) });
    void ctx.blockConcurrencyWhile(() => this.#alarm.load());
    this.#notes = new ContainerMemory(sql);
    this.#reception = new TenantReception({
      sql,
      notes: this.#notes,
      environment: variables,
      readConfig: async () => (await env.STATE.get(stateKeys().config))?.text(),
      sandbox: remoteSandbox(env, AGENT),
      hasState: async () => {
        const { objects } = await env.STATE.list({ prefix: stateKeys().generations, limit: 1 });
        return objects.length > 0;
      },
      changeRights: (tenant, grant) =>
        ctx.waitUntil(received(env.SANDBOX.getByName(tenant).changeRights(grant))),
      wakeAt: (time) => this.#alarm.wakeAt(time),
      fetch: (url, init) => fetch(url, init),
      clock: Date.now,
      log: consoleLog(variables),
    });
  }

  introduce(tenant: TenantId, event: Delivery) {
    return answer(() => this.#reception.introduce(tenant, event));
  }

  report(tenant: TenantId, report: TenantReport) {
    return answer(() => this.#reception.roster.report(tenant, report));
  }

  moved(tenant: TenantId, to: TenantId) {
    return answer(() => this.#reception.roster.move(tenant, to));
  }

  knows(tenant: TenantId) {
    return answer(() => this.#reception.roster.has(tenant));
  }

  tenants(query: TenantQuery) {
    return answer(() => this.#reception.roster.list(query));
  }

  totals() {
    return answer(() => this.#reception.roster.totals());
  }

  makeRoom(wanting: TenantId) {
    return answer(async () => {
      for (const tenant of this.#reception.roster.running()) {
        if (tenant === wanting) continue;
        const object = this.env.SANDBOX.getByName(tenant);
        if (await received(object.sleepEarly())) return true;
      }
      return false;
    });
  }

  mayRenew(tenant: TenantId) {
    return answer(async () => {
      if (this.#canaries.includes(tenant)) return true;
      const version = this.env.VERSION?.id ?? "";
      if (this.#notes.read("renews") === version) return true;
      // A canary that was never let in has no container that could show anything.
      for (const canary of this.#canaries.filter((one) => this.#reception.roster.has(one))) {
        const object = this.env.SANDBOX.getByName(canary);
        if (!(await received(object.answersAsDeployed()))) return false;
      }
      this.#notes.write("renews", version);
      return true;
    });
  }

  operate(request: OperationRequest) {
    return answer(() => this.#reception.operate(request));
  }

  /** Sends what waits in the outbox. */
  async alarm(): Promise<void> {
    this.#alarm.fired();
    await this.#reception.tell();
  }
}
