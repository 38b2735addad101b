import type { GrantedRole } from "../../contract/config/rights.ts";
import type { OperationReply, OperationRequest } from "../../contract/control.ts";
import { type Delivery, PLATFORM_TITLES, type Platform, platformSchema } from "../../contract/delivery.ts";
import { AGENT } from "../../contract/names.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { PairingRequest } from "../../shared/pairing-list.ts";
import { StewardError } from "../../contract/errors.ts";
import { type Approvals, chatOfTenant, type TenantId, tenantOfBrowser } from "../../contract/tenant.ts";
import type { Environment } from "../../contract/variables.ts";
import type { Log } from "../../shared/log.ts";
import {
  APPROVED_TEXT,
  type AccessRules,
  type ChannelAccess,
  channelAccess,
} from "../../shared/channel-access.ts";
import type { DeviceEntry, NewDevice } from "../../shared/devices.ts";
import { type Fetch, chatRequest, replyRequest, post } from "../ledger/post.ts";
import { NameStore } from "../ledger/names.ts";
import { peopleOf } from "../ledger/people.ts";
import type { Sql } from "../ledger/sql.ts";
import type { Clock, Notes, Sandbox } from "../ports.ts";
import { readAccessRules } from "./access-rules.ts";
import { Browsers } from "./browsers.ts";
import { TenantDesk } from "./desk.ts";
import { adoptApprovals, operateOnPeople } from "./operations.ts";
import { TenantOutbox } from "./outbox.ts";
import { People } from "./people.ts";
import type { Grant, AdmissionDecision, TenantReport } from "./ports.ts";
import { TenantRoster } from "./roster.ts";
import { waitAtMost } from "../../shared/timeout.ts";

const MAX_SHOWN = 5;
const LONGEST_NAME = 60;

/** Maximum time, in milliseconds, that an operator's command waits for chats to apply changed rights. */
const RIGHTS_MS = 3_000;

const STORE_RETRY_MS = 60_000;

/** Maximum delay until a new pairing code is stored. */
const KEEP_CODES_MS = 5 * 60_000;

export interface TenantReceptionOptions {
  sql: Sql;
  notes: Notes;
  environment: Environment;
  readConfig(): Promise<string | undefined>;
  /** Shared sandbox, which served every chat before. */
  sandbox: Sandbox;
  /**
   * Returns the ISO 8601 time at which the sandbox shared by all chats began to serve them. Returns `"unknown"` if
   * the time is unknown, or `undefined` if the sandbox has no state.
   */
  servedAllSince(): Promise<string | undefined>;
  /** Stores the approvals for the shared sandbox, in case all chats move back to that sandbox. */
  storeApprovals?(approvals: Approvals): Promise<void>;
  /** Tells the chat's sandbox that a person's rights have changed. */
  changeRights(tenant: TenantId, grant: Grant): Promise<void>;
  /** `role` is absent if access was revoked. */
  changeBrowser(tenant: TenantId, role: GrantedRole | undefined): Promise<void>;
  /** Schedules {@link TenantReception.flush} for `time` (milliseconds since the epoch) or earlier. */
  wakeAt(time: number): void;
  fetch: Fetch;
  clock: Clock;
  log: Log;
}

/**
 * Directory of tenants. Registers chats, decides which chats are admitted, and replies to strangers. Each chat has
 * its own sandbox.
 */
export class TenantReception {
  readonly roster: TenantRoster;
  readonly names: NameStore;
  readonly #options: TenantReceptionOptions;
  readonly #people: People;
  readonly #browsers: Browsers;
  readonly #desk: TenantDesk;
  readonly #outbox: TenantOutbox;
  /**
   * Queue of changed rights. Retries forever, because a person whose access was revoked keeps it until the tenant
   * applies the change.
   */
  readonly #rights: TenantOutbox;
  #adopting: Promise<void> | undefined;
  #isAdopted = false;
  #keeping: Promise<void> = Promise.resolve();
  /** Rules of the last readable config, used while the current one is unreadable. */
  readonly #rules = new Map<Platform, AccessRules>();

  constructor(options: TenantReceptionOptions) {
    this.#options = options;
    const { sql, environment, fetch, clock, log } = options;
    this.roster = new TenantRoster(sql, clock);
    this.names = new NameStore(sql);
    this.#people = new People({ sql, onChange: (...change) => this.#rightsChanged(...change), clock });
    this.#browsers = new Browsers({
      sql,
      onChange: (deviceId, role) => {
        this.#rights.add(tenantOfBrowser(deviceId), JSON.stringify({ role }));
        this.#schedule();
      },
      clock,
    });
    this.#rights = new TenantOutbox({
      sql,
      table: "tenant_rights",
      mostAttempts: Number.POSITIVE_INFINITY,
      send: (tenant, text) => {
        const grant = JSON.parse(text) as Grant;
        const isBrowser = chatOfTenant(tenant).platform === "web";
        return isBrowser ? options.changeBrowser(tenant, grant.role) : options.changeRights(tenant, grant);
      },
      clock,
      log,
    });
    this.#outbox = new TenantOutbox({
      sql,
      table: "tenant_outbox",
      // With growing delays, the last attempt is about 40 minutes after the first.
      mostAttempts: 10,
      send: async (tenant, text) => {
        const { platform, chat } = chatOfTenant(tenant);
        if (platform !== "web") await post(platform, chatRequest(platform, chat, text, environment), fetch);
      },
      clock,
      log,
    });
    this.#desk = new TenantDesk({
      access: (platform) => this.#access(platform),
      lists: (platform) => this.#people.lists(platform),
      meet: (tenant) => this.roster.meet(tenant),
      place: (...where) => this.#people.meet(...where),
      onRequest: (platform) => {
        this.#tellOperators(platform).catch((error: unknown) => {
          log.warn("operators could not be notified of a request", { platform, error: String(error) });
        });
      },
      say: async (event, text) => {
        const request = replyRequest(event, text, environment);
        if (request !== undefined) await post(event.platform, request, fetch);
      },
    });
  }

  async introduce(tenant: TenantId, event: Delivery): Promise<AdmissionDecision> {
    const movedTo = this.roster.movedTo(tenant);
    if (movedTo !== undefined) return { admitted: false, note: `passed on to ${movedTo}`, movedTo };
    this.names.record(peopleOf(event).sightings, this.#options.clock());
    await this.#adopt();
    const standing = await this.#desk.decide(tenant, event);
    // The refused stranger may have a new pairing code. Store it later, so that many strangers cause few writes.
    if (!standing.admitted && this.#unstored() !== undefined)
      this.#options.wakeAt(this.#options.clock() + KEEP_CODES_MS);
    return standing;
  }

  /** Admits an approved browser that has proven possession of its key. Records the request of a new browser. */
  async enter(device: NewDevice, known?: string): Promise<DeviceEntry> {
    await this.#adopt();
    const entry = this.#browsers.enter(device, known);
    if (entry.kind !== "paired") return entry;
    const { deviceId } = entry.device;
    this.#browsers.used(deviceId);
    this.roster.meet(tenantOfBrowser(deviceId));
    return entry;
  }

  report(tenant: TenantId, { names = [], ...report }: TenantReport): void {
    this.names.record(names, this.#options.clock());
    this.roster.report(tenant, report);
  }

  async operate(request: OperationRequest): Promise<OperationReply> {
    await this.#adopt();
    const reply = await operateOnPeople(this.#people, this.#browsers, request);
    // Apply the rights before the chat's next message. If the chat does not answer in time, the alarm retries.
    await waitAtMost(RIGHTS_MS, this.#rights.run());
    await this.#storeApprovals();
    return reply;
  }

  async flush(): Promise<void> {
    await Promise.all([this.#rights.run(), this.#outbox.run()]);
    await this.#storeApprovals();
    this.#schedule();
  }

  /**
   * Copies the approvals to the tenant directory from the sandbox that previously served every chat. If the
   * deployment returns to one shared sandbox for a time, copies them again afterwards.
   */
  async #adopt(): Promise<void> {
    if (this.#isAdopted) return;
    this.#adopting ??= this.#adoptOnce().finally(() => {
      this.#adopting = undefined;
    });
    await this.#adopting;
    this.#isAdopted = true;
  }

  async #adoptOnce(): Promise<void> {
    const { notes, sandbox, servedAllSince } = this.#options;
    const since = await servedAllSince();
    if (since === undefined || notes.read("adopted") === since) return;
    await adoptApprovals({
      sandbox,
      people: this.#people,
      browsers: this.#browsers,
      stored: notes.read("approvalsVersion"),
    });
    notes.write("adopted", since);
    await this.#storeApprovals();
  }

  /** Stores the approvals with {@link TenantReceptionOptions.storeApprovals}. Never rejects. */
  async #storeApprovals(): Promise<void> {
    this.#keeping = this.#keeping.then(() => this.#storeOnce());
    await this.#keeping;
  }

  async #storeOnce(): Promise<void> {
    const { notes, storeApprovals, wakeAt, clock, log } = this.#options;
    const unstored = this.#unstored();
    if (storeApprovals === undefined || unstored === undefined) return;
    const { text, ...lists } = unstored;
    const approvals: Approvals = { version: new Date(clock()).toISOString(), ...lists };
    try {
      await storeApprovals(approvals);
      notes.write("approvalsVersion", approvals.version);
      notes.write("approvals", text);
    } catch (error) {
      log.error("the approvals could not be stored", { error: String(error) });
      wakeAt(clock() + STORE_RETRY_MS);
    }
  }

  /** Returns the approvals if they must be stored, otherwise `undefined`. */
  #unstored() {
    const { notes, storeApprovals } = this.#options;
    const lists = platformSchema.options.map((platform) => {
      const { approved, operators, pending } = this.#people.lists(platform);
      // Omit the time of the last request, so that repeated requests cause no write.
      const requests = pending().map(({ id, code, createdAt, meta }) => ({ id, code, createdAt, meta }));
      return [platform, { allowFrom: approved(), operators: operators(), requests }] as const;
    });
    // The type of `paired()` lacks the index signature that the schema's type has.
    const browsers = this.#browsers.paired() as unknown as NonNullable<Approvals["browsers"]>;
    // Ignore a browser's time of last use, so that mere use causes no write.
    const text = JSON.stringify([lists, browsers], (key, value) =>
      key === "lastUsedAtMs" ? undefined : value,
    );
    const known = notes.read("approvals");
    const isEmpty =
      known === undefined &&
      browsers.length === 0 &&
      lists.every(([, { allowFrom, requests }]) => allowFrom.length + requests.length === 0);
    if (storeApprovals === undefined || isEmpty || text === known) return undefined;
    return { platforms: Object.fromEntries(lists), browsers, text };
  }

  /** Returns the access rules, from the last readable config if the current one is unreadable. */
  async #access(platform: Platform): Promise<ChannelAccess> {
    const rules = readAccessRules(await this.#options.readConfig(), platform) ?? this.#rules.get(platform);
    if (rules === undefined)
      throw new StewardError(
        "config_invalid",
        "The deployment's config cannot be read, so access cannot be decided.",
      );
    this.#rules.set(platform, rules);
    return channelAccess(rules, this.#people.lists(platform));
  }

  /**
   * Tells operators that access requests await a decision. Reaches only operators who have a direct chat with the
   * bot.
   */
  async #tellOperators(platform: Platform): Promise<void> {
    const { readConfig, environment } = this.#options;
    const config = await readConfig();
    const text = waitingText(platform, this.#people.lists(platform).pending(), environment["PUBLIC_ORIGIN"]);
    for (const on of platformSchema.options) {
      const named = (readAccessRules(config, on) ?? this.#rules.get(on))?.operators ?? [];
      for (const operator of new Set([...named, ...this.#people.lists(on).operators()])) {
        const tenant = this.#people.directChat(on, operator);
        if (tenant !== undefined) this.#outbox.add(tenant, text);
      }
    }
    this.#schedule();
  }

  #rightsChanged(platform: Platform, sender: string, role: GrantedRole | undefined): void {
    const tenant = this.#people.directChat(platform, sender);
    if (tenant === undefined) return;
    this.#rights.add(tenant, JSON.stringify({ channel: platform, sender, role } satisfies Grant));
    if (role !== undefined) this.#outbox.add(tenant, APPROVED_TEXT[role]);
    this.#schedule();
  }

  #schedule(): void {
    for (const { nextAt } of [this.#rights, this.#outbox])
      if (nextAt !== undefined) this.#options.wakeAt(nextAt);
  }
}

function waitingText(platform: Platform, requests: readonly PairingRequest[], origin = ""): string {
  const lines = requests
    .slice(-MAX_SHOWN)
    .toReversed()
    .map(({ id, code, meta: { username = "" } = {} }) => {
      // Remove unusual characters, because a stranger chose this name.
      const name = username.replaceAll(/[^\w.-]/g, "").slice(0, LONGEST_NAME);
      return `${id}${name && ` (${name})`}: ${AGENT} pairing approve ${platform} ${code}`;
    });
  const more = requests.length > lines.length ? [`${requests.length - lines.length} more are waiting.`] : [];
  const title = `Access requests on ${PLATFORM_TITLES[platform]}. To approve one, run its command:`;
  return [title, ...lines, ...more, `Or use the page ${origin}${ROUTES.devicesPage.path}`].join("\n");
}
