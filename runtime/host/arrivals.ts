import type { Delivery } from "../contract/delivery.ts";
import type { LedgerStore } from "../edge/ledger/store.ts";
import type { NodeSql } from "./sqlite.ts";

interface Arrival {
  event: Delivery;
  /** `true` where the event is new. */
  recorded(isNew: boolean): void;
  failed(error: unknown): void;
}

/**
 * Records events. Those that arrive in the same turn of the event loop, mostly while the disk is waited for,
 * share one transaction and so one wait for the disk; none is reported before it is over.
 */
export class Arrivals {
  readonly #sql: NodeSql;
  readonly #store: LedgerStore;
  #waiting: Arrival[] = [];

  constructor(sql: NodeSql, store: LedgerStore) {
    this.#sql = sql;
    this.#store = store;
  }

  /** Resolves when the event is on disk: `false` where its id was known. Rejects where it could not be stored. */
  record(event: Delivery): Promise<boolean> {
    return new Promise((recorded, failed) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#commit());
      this.#waiting.push({ event, recorded, failed });
    });
  }

  #commit(): void {
    const arrivals = this.#waiting;
    this.#waiting = [];
    try {
      const isNew = this.#sql.transaction(() => arrivals.map(({ event }) => this.#store.record(event)));
      for (const [index, { recorded }] of arrivals.entries()) recorded(isNew[index] ?? false);
    } catch (error) {
      for (const { failed } of arrivals) failed(error);
    }
  }
}
