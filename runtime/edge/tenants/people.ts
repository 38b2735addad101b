import type { GrantedRole } from "../../contract/config/rights.ts";
import type { Platform } from "../../contract/delivery.ts";
import type { TenantId } from "../../contract/tenant.ts";
import {
  approvedOperators,
  approvePairing,
  grantedRole,
  grantRole,
  type MovedRequest,
  type PairingChanged,
  type PairingList,
  type PairingRequest,
  pendingRequests,
  rejectPairing,
  requestPairing,
  restoreAccess,
  revokeAccess,
  type RevokedAccess,
  mergeRequests,
} from "../../shared/pairing-list.ts";
import type { Sql } from "../ledger/sql.ts";
import type { Clock } from "../ports.ts";

const NOBODY: PairingList = { requests: [], allowFrom: [], operators: [] };

/** Lists of the shared sandbox, which served every chat while tenancy was off. */
type MovedLists = Pick<PairingList, "allowFrom" | "operators"> & {
  requests?: readonly MovedRequest[];
};

interface PeopleOptions {
  sql: Sql;
  /** `role` is absent if access was revoked. */
  onChange(platform: Platform, sender: string, role: GrantedRole | undefined): void;
  clock: Clock;
}

/** Pairing requests and approvals by platform, and senders' direct chats. */
export class People {
  readonly #options: PeopleOptions;

  constructor(options: PeopleOptions) {
    this.#options = options;
    const { sql } = options;
    sql.all(
      "CREATE TABLE IF NOT EXISTS people (platform TEXT PRIMARY KEY, lists TEXT NOT NULL) WITHOUT ROWID",
    );
    sql.all(
      `CREATE TABLE IF NOT EXISTS direct_chats (
         platform TEXT NOT NULL, sender TEXT NOT NULL, tenant TEXT NOT NULL, PRIMARY KEY (platform, sender)
       ) WITHOUT ROWID`,
    );
  }

  meet(platform: Platform, sender: string, tenant: TenantId): void {
    this.#options.sql.all(
      "INSERT OR REPLACE INTO direct_chats (platform, sender, tenant) VALUES (?, ?, ?)",
      platform,
      sender,
      tenant,
    );
  }

  directChat(platform: Platform, sender: string): TenantId | undefined {
    const [row] = this.#options.sql.all(
      "SELECT tenant FROM direct_chats WHERE platform = ? AND sender = ?",
      platform,
      sender,
    );
    return row && String(row["tenant"]);
  }

  /** Adds the given approvals and requests. Does not call `onChange`. */
  adopt(platform: Platform, { allowFrom, operators, requests = [] }: MovedLists): void {
    const known = this.#read(platform);
    this.#write(platform, {
      ...known,
      allowFrom: [...new Set([...allowFrom, ...known.allowFrom])],
      operators: [...new Set([...operators, ...known.operators])],
    });
    this.#addRequests(platform, requests);
  }

  /**
   * Replaces the approvals with the given ones, and adds the given requests. Calls `onChange` only for senders who
   * lost access.
   */
  replace(platform: Platform, { allowFrom, operators, requests = [] }: MovedLists): void {
    const known = this.#read(platform);
    this.#write(platform, { ...known, allowFrom, operators });
    this.#addRequests(platform, requests);
    const lost = known.allowFrom.filter((sender) => !allowFrom.includes(sender));
    for (const sender of lost) this.#options.onChange(platform, sender, undefined);
  }

  #addRequests(platform: Platform, moved: readonly MovedRequest[]): void {
    const lists = this.#read(platform);
    this.#write(platform, { ...lists, requests: mergeRequests(lists, moved, this.#options.clock()) });
  }

  /** Returns a platform's pairing store, which has the same methods as a gateway's pairing store. */
  lists(platform: Platform) {
    const { onChange, clock } = this.#options;
    const read = (): PairingList => this.#read(platform);
    const write = <T extends PairingChanged>(changed: T | undefined): T | undefined => {
      if (changed !== undefined) this.#write(platform, { ...read(), ...changed.change });
      return changed;
    };
    return {
      pending: () => pendingRequests(read(), clock()),
      approved: () => [...read().allowFrom],
      operators: () => approvedOperators(read()),
      granted: (sender: string) => grantedRole(read(), sender),
      request: (id: string, meta: Record<string, string> = {}): PairingRequest | undefined =>
        write(requestPairing(read(), { id, meta }, { now: clock() }))?.request,
      approve(code: string, role: GrantedRole = "person"): PairingRequest | undefined {
        const request = write(approvePairing(read(), code, role, clock()))?.request;
        if (request !== undefined) onChange(platform, request.id, role);
        return request;
      },
      grant(sender: string, role: GrantedRole): void {
        write(grantRole(read(), sender, role, clock()));
        onChange(platform, sender, role);
      },
      reject: (code: string): PairingRequest | undefined =>
        write(rejectPairing(read(), code, clock()))?.request,
      revoke(sender: string): boolean {
        const isRevoked = write(revokeAccess(read(), sender)) !== undefined;
        if (isRevoked) onChange(platform, sender, undefined);
        return isRevoked;
      },
      restore(taken: RevokedAccess): boolean {
        const isBack = write(restoreAccess(read(), taken, clock())) !== undefined;
        if (isBack && "sender" in taken) onChange(platform, taken.sender, taken.role);
        return isBack;
      },
    };
  }

  /**
   * Returns the list `pairing`, `allowFrom` or `operators` in the format of a gateway's credentials files;
   * `undefined` for another name.
   */
  file(platform: Platform, name: string): object | undefined {
    const { requests, allowFrom, operators } = this.#read(platform);
    const files: Readonly<Record<string, object>> = {
      pairing: { version: 1, requests },
      allowFrom: { version: 1, allowFrom },
      operators: { version: 1, operators },
    };
    return files[name];
  }

  #read(platform: Platform): PairingList {
    const [row] = this.#options.sql.all("SELECT lists FROM people WHERE platform = ?", platform);
    return row === undefined ? NOBODY : (JSON.parse(String(row["lists"])) as PairingList);
  }

  #write(platform: Platform, lists: PairingList): void {
    this.#options.sql.all(
      "INSERT OR REPLACE INTO people (platform, lists) VALUES (?, ?)",
      platform,
      JSON.stringify(lists),
    );
  }
}
