import type { GrantedRole } from "../../contract/config/rights.ts";
import type { Delivery, Platform } from "../../contract/delivery.ts";
import type { Reason } from "../../contract/errors.ts";
import type { Renewal, TenantId } from "../../contract/tenant.ts";
import type { LedgerCounts, Sighting } from "../ports.ts";

/** A sender's rights, which the directory sends to the gateway. */
export interface Grant {
  channel: Platform;
  sender: string;
  /** Absent if access was revoked. */
  role?: GrantedRole | undefined;
}

export type AdmissionDecision =
  | { admitted: true; grant?: Grant | undefined }
  /**
   * Another tenant, `movedTo`, serves the chat. After a change of the chat's id, `movedTo` is the tenant named after
   * the previous id.
   */
  | { admitted: false; note: string; movedTo: TenantId }
  /** `group`: id of a group that the config does not list; see `LedgerEntry`. */
  | { admitted: false; note: string; group?: string | undefined; movedTo?: undefined };

/** Status report that a tenant sends to the directory once a minute while active. */
export interface TenantReport {
  running: boolean;
  /** Version of the container's last run. */
  version?: string | undefined;
  counts: LedgerCounts;
  /** Last use, ISO 8601. */
  usedAt: string;
  problem?: Reason | undefined;
  names?: readonly Sighting[];
}

/** State of an updated container: `starts` at first, then `answers` or `fails`. */
export type RenewalOutcome = "answers" | "starts" | "fails";

export interface TenantDirectory {
  introduce(tenant: TenantId, event: Delivery): Promise<AdmissionDecision>;
  /** Registers a tenant that has a schedule but has not sent a message yet. */
  meet(tenant: TenantId): Promise<void>;
  report(tenant: TenantId, report: TenantReport): Promise<void>;
  moved(tenant: TenantId, to: TenantId): Promise<void>;
  /**
   * Puts another tenant's container to sleep to make room.
   *
   * @returns false if no container could be put to sleep
   */
  makeRoom(tenant: TenantId): Promise<boolean>;
  /** Sends the deployment's changed config to all running containers. */
  configChanged(): Promise<void>;
  /** Returns true if the staged update may replace the tenant's container now. */
  mayRenew(tenant: TenantId): Promise<boolean>;
}

/** A tenant. Times are ISO 8601. */
export interface Tenant {
  id: TenantId;
  firstSeenAt: string;
  lastSeenAt: string;
  report?: TenantReport;
}

/** Totals of all tenants, from their last reports. */
export interface TenantTotals {
  chats: number;
  running: number;
  failing: number;
  counts: LedgerCounts;
}

export interface Tenants {
  /** Starts no container. */
  totals(): Promise<TenantTotals>;
  /** Returns the tenants sorted by id, those with problems first. Starts no container. */
  tenants(query: TenantQuery): Promise<Tenant[]>;
  /** Returns true for an admitted chat. */
  knows(tenant: TenantId): Promise<boolean>;
  /**
   * Returns the update's progress. With `look`, first starts the canaries and checks the updated containers. A host
   * lacks this method, because it updates all chats at once.
   */
  renewal?(options: { look: boolean }): Promise<Renewal>;
}

export interface TenantQuery {
  limit: number;
  after?: TenantId | undefined;
}
