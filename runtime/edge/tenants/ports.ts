import type { GrantedRole } from "../../contract/config/rights.ts";
import type { Delivery, Platform } from "../../contract/delivery.ts";
import type { Reason } from "../../contract/errors.ts";
import type { Renewal, TenantId } from "../../contract/tenant.ts";
import type { LedgerCounts, Sighting } from "../ports.ts";

/** The rights of a sender, as the gateway of its own tenant has to know them. */
export interface Grant {
  channel: Platform;
  sender: string;
  /** Absent for a sender whose access was taken away. */
  role?: GrantedRole | undefined;
}

/** Decision about a chat: it gets a sandbox, or its messages are left with a reason. */
export type AdmissionDecision =
  | { admitted: true; grant?: Grant | undefined }
  /** The chat had another id before: its sandbox goes by that one. */
  | { admitted: false; note: string; movedTo: TenantId }
  /** `group`: the id of a group that would have to be listed; see `LedgerEntry`. */
  | { admitted: false; note: string; group?: string | undefined; movedTo?: undefined };

/** Report of a tenant about itself, once a minute while it has something to do. */
export interface TenantReport {
  /** Its container runs. */
  running: boolean;
  /** The version of its container, if one has run. */
  version?: string | undefined;
  counts: LedgerCounts;
  /** Time of its last use, ISO 8601. */
  usedAt: string;
  /** Why it does not answer. */
  problem?: Reason | undefined;
  /** People and places that its last events have named. */
  names?: readonly Sighting[];
}

/** State of a container that an update replaces. `starts`: neither of the others yet. */
export type RenewalOutcome = "answers" | "starts" | "fails";

/** The directory as a tenant's object uses it. */
export interface TenantDirectory {
  /** Decides about the chat of an event, and answers a stranger in it. */
  introduce(tenant: TenantId, event: Delivery): Promise<AdmissionDecision>;
  /** Adds a tenant that has not written, and has a schedule. */
  meet(tenant: TenantId): Promise<void>;
  report(tenant: TenantId, report: TenantReport): Promise<void>;
  /** A tenant's chat has another id now. */
  moved(tenant: TenantId, to: TenantId): Promise<void>;
  /**
   * A tenant cannot start its container, since as many run as may: puts another one to sleep.
   *
   * @returns false if all of them are in use.
   */
  makeRoom(tenant: TenantId): Promise<boolean>;
  /** The deployment's config has changed: the tenants whose containers run take it over. */
  configChanged(): Promise<void>;
  /** Returns true if a tenant's outdated container may be replaced: those before it answer with the present version. */
  mayRenew(tenant: TenantId): Promise<boolean>;
}

/** A tenant of the deployment. Times are ISO 8601. */
export interface Tenant {
  id: TenantId;
  firstSeenAt: string;
  /** Time of its last report. */
  lastSeenAt: string;
  report?: TenantReport;
}

/** All tenants in numbers, by their last reports. */
export interface TenantTotals {
  chats: number;
  /** Those whose container runs. */
  running: number;
  /** Those that do not answer. */
  failing: number;
  /** Events of all of them. */
  counts: LedgerCounts;
}

/** The tenants as an operator sees them. */
export interface Tenants {
  /** Wakes nothing. */
  totals(): Promise<TenantTotals>;
  /** Returns tenants by id, those with a problem first. Wakes nothing. */
  tenants(query: TenantQuery): Promise<Tenant[]>;
  /** Returns true for a chat that was let in. */
  knows(tenant: TenantId): Promise<boolean>;
  /**
   * Returns how far the update to the present version has come; `look`: asks the containers, and starts the canaries'.
   * Absent on a host, where an update reaches all chats at once.
   */
  renewal?(options: { look: boolean }): Promise<Renewal>;
}

/** A part of the tenants. */
export interface TenantQuery {
  limit: number;
  /** The last id of the part before. */
  after?: TenantId | undefined;
}
