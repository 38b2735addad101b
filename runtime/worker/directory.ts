import type { DurableObjectState } from "@cloudflare/workers-types/index.ts";
import { DurableObject } from "cloudflare:workers";
import type { OperationRequest } from "../contract/control.ts";
import type { GrantedRole } from "../contract/config/rights.ts";
import { type Delivery, type Platform, platformSchema } from "../contract/delivery.ts";
import { StewardError } from "../contract/errors.ts";
import { AGENT } from "../contract/names.ts";
import { type Approvals, APPROVALS_KEY, chatOfTenant, stateKeys, type TenantId } from "../contract/tenant.ts";
import { messageIn, messageTo, post } from "../edge/ledger/post.ts";
import { readAccessRules } from "../edge/tenants/access-rules.ts";
import { TenantDesk } from "../edge/tenants/desk.ts";
import { adoptApprovals, operateOnPeople } from "../edge/tenants/operations.ts";
import { TenantOutbox } from "../edge/tenants/outbox.ts";
import { People } from "../edge/tenants/people.ts";
import type { TenantQuery, TenantReport } from "../edge/tenants/ports.ts";
import { TenantRoster } from "../edge/tenants/roster.ts";
import { Waves } from "../edge/tenants/waves.ts";
import type { Log } from "../shared/log.ts";
import {
  APPROVED_TEXT,
  type AccessRules,
  type ChannelAccess,
  channelAccess,
} from "../shared/channel-access.ts";
import { Alarm } from "./alarm.ts";
import { ContainerMemory } from "./container-memory.ts";
import { durableSql } from "./durable-sql.ts";
import { consoleLog, readWorker, type WorkerEnvironment } from "./environment.ts";
import { answer, received } from "./rpc.ts";
import { remoteSandbox } from "./tenants.ts";

/** Wait before approvals are stored again that the bucket did not take. */
const KEEP_AGAIN_MS = 60_000;
/** Containers that are asked to make room for another one. */
const MOST_ASKED = 20;

/**
 * Knows the tenants of a deployment in which each chat has a sandbox of its own, and who may write to the bot. It sees a
 * chat's first message only: what follows goes to the chat's own object.
 */
export class Directory extends DurableObject<WorkerEnvironment> {
  readonly #roster: TenantRoster;
  readonly #people: People;
  readonly #desk: TenantDesk;
  readonly #outbox: TenantOutbox;
  readonly #alarm: Alarm;
  readonly #notes: ContainerMemory;
  readonly #waves: Waves;
  readonly #log: Log;
  #adopting: Promise<void> | undefined;
  #isAdopted = false;
  /** The rules of each platform that were read last. */
  readonly #rules = new Map<Platform, AccessRules>();

  constructor(ctx: DurableObjectState, env: WorkerEnvironment) {
    super(ctx, env);
    const { variables, settings } = readWorker(env);
    const sql = durableSql(ctx.storage);
    const clock = Date.now;
    const log = consoleLog(variables);
    this.#log = log;
    const send: typeof fetch = (url, init) => fetch(url, init);
    this.#alarm = new Alarm({ storage: ctx.storage, waitUntil: (work) => ctx.waitUntil(work) });
    void ctx.blockConcurrencyWhile(() => this.#alarm.load());
    this.#notes = new ContainerMemory(sql);
    this.#roster = new TenantRoster(sql, clock);
    this.#waves = new Waves({
      sql,
      version: env.VERSION?.id ?? "",
      canaries: settings.canaryTenants,
      knows: (tenant) => this.#roster.has(tenant),
      isWell: (tenant) => this.#roster.isWell(tenant),
      look: (tenant) => received(env.SANDBOX.getByName(tenant).lookAsDeployed()),
      clock,
    });
    this.#people = new People({ sql, onChange: (...change) => this.#rightsChanged(...change), clock });
    this.#outbox = new TenantOutbox({
      sql,
      send: async (tenant, text) => {
        const { platform, chat } = chatOfTenant(tenant);
        if (platform !== "web") await post(platform, messageIn(platform, chat, text, variables), send);
      },
      clock,
      log,
    });
    this.#desk = new TenantDesk({
      access: (platform) => this.#access(platform),
      lists: (platform) => this.#people.on(platform),
      meet: (tenant) => this.#roster.meet(tenant),
      place: (...where) => this.#people.meet(...where),
      say: async (event, text) => {
        const request = messageTo(event, text, variables);
        if (request !== undefined) await post(event.platform, request, send);
      },
    });
  }

  introduce(tenant: TenantId, event: Delivery) {
    return answer(async () => {
      const movedTo = this.#roster.movedTo(tenant);
      if (movedTo !== undefined)
        return { admitted: false, note: `passed on to ${movedTo}`, movedTo } as const;
      await this.#adopt();
      return this.#desk.introduce(tenant, event);
    });
  }

  report(tenant: TenantId, report: TenantReport) {
    return answer(() => this.#roster.report(tenant, report));
  }

  moved(tenant: TenantId, to: TenantId) {
    return answer(() => this.#roster.move(tenant, to));
  }

  knows(tenant: TenantId) {
    return answer(() => this.#roster.has(tenant));
  }

  tenants(query: TenantQuery) {
    return answer(() => this.#roster.list(query));
  }

  totals() {
    return answer(() => this.#roster.totals());
  }

  makeRoom(wanting: TenantId) {
    return answer(async () => {
      // Where those are in use that were used longest ago, so are the others. The sandbox of browsers comes last.
      const idle = this.#roster.running().filter((one) => one !== wanting);
      for (const tenant of [...idle.slice(0, MOST_ASKED), AGENT]) {
        if (tenant === wanting) continue;
        const object = this.env.SANDBOX.getByName(tenant);
        if (await received(object.sleepEarly())) return true;
      }
      return false;
    });
  }

  configChanged() {
    return answer(async () => {
      const told = this.#roster
        .running()
        .map((one) => received(this.env.SANDBOX.getByName(one).followConfig()));
      await Promise.allSettled(told);
    });
  }

  mayRenew(tenant: TenantId) {
    return answer(() => this.#waves.mayRenew(tenant));
  }

  renewal({ look }: { look: boolean }) {
    return answer(async () => {
      if (look) await this.#waves.look();
      return this.#waves.progress();
    });
  }

  operate(request: OperationRequest) {
    return answer(async () => {
      await this.#adopt();
      const reply = await operateOnPeople(this.#people, request);
      await this.#keepApprovals();
      return reply;
    });
  }

  /** Sends what waits in the outbox. */
  async alarm(): Promise<void> {
    this.#alarm.fired();
    await this.#outbox.run();
    await this.#keepApprovals();
    this.#schedule();
  }

  /** Takes over the approvals from before, once after each time in which one sandbox served every chat. */
  async #adopt(): Promise<void> {
    if (this.#isAdopted) return;
    this.#adopting ??= this.#adoptOnce().finally(() => {
      this.#adopting = undefined;
    });
    await this.#adopting;
    this.#isAdopted = true;
  }

  async #adoptOnce(): Promise<void> {
    const since = await received(this.env.SANDBOX.getByName(AGENT).servedAllSince());
    if (since === undefined || this.#notes.read("adopted") === since) return;
    await adoptApprovals({
      sandbox: remoteSandbox(this.env, AGENT),
      people: this.#people,
      stored: this.#notes.read("approvalsVersion"),
    });
    this.#notes.write("adopted", since);
    await this.#keepApprovals();
  }

  /** Stores the approvals in the bucket for the way back, on which this object is not asked. */
  async #keepApprovals(): Promise<void> {
    const lists = platformSchema.options.map((platform) => {
      const { approved, operators } = this.#people.on(platform);
      return [platform, { allowFrom: approved(), operators: operators() }] as const;
    });
    const known = this.#notes.read("approvals");
    const text = JSON.stringify(lists);
    const isEmpty = known === undefined && lists.every(([, { allowFrom }]) => allowFrom.length === 0);
    if (text === known || isEmpty) return;
    const approvals: Approvals = { version: new Date().toISOString(), platforms: Object.fromEntries(lists) };
    try {
      await this.env.STATE.put(APPROVALS_KEY, JSON.stringify(approvals));
      this.#notes.write("approvalsVersion", approvals.version);
      this.#notes.write("approvals", text);
    } catch (error) {
      this.#log.error("the approvals could not be stored", { error: String(error) });
      this.#alarm.wakeAt(Date.now() + KEEP_AGAIN_MS);
    }
  }

  /** Returns the access rules of the config in the bucket; of the last one that could be read while it is broken. */
  async #access(platform: Platform): Promise<ChannelAccess> {
    const object = await this.env.STATE.get(stateKeys().config);
    const text = await object?.text();
    const rules = readAccessRules(text, platform) ?? this.#rules.get(platform);
    if (rules === undefined)
      throw new StewardError("config_invalid", "The config in the bucket does not say who may write.");
    this.#rules.set(platform, rules);
    return channelAccess(rules, this.#people.on(platform));
  }

  /** Tells a sender of its approval, and has its chat ask again. */
  #rightsChanged(platform: Platform, sender: string, role: GrantedRole | undefined): void {
    const tenant = this.#people.directChat(platform, sender);
    if (tenant === undefined) return;
    this.ctx.waitUntil(
      received(this.env.SANDBOX.getByName(tenant).changeRights({ channel: platform, sender, role })),
    );
    if (role === undefined) return;
    this.#outbox.add(tenant, APPROVED_TEXT[role]);
    this.#schedule();
  }

  #schedule(): void {
    const { nextAt } = this.#outbox;
    if (nextAt !== undefined) this.#alarm.wakeAt(nextAt);
  }
}
