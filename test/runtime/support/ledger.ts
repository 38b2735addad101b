import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Delivery } from "../../../runtime/contract/delivery.ts";
import type { Log } from "../../../runtime/shared/log.ts";
import { Dispatcher, type AttemptResult } from "../../../runtime/edge/ledger/dispatcher.ts";
import type { LedgerStore } from "../../../runtime/edge/ledger/store.ts";
import { handOver, turns } from "./handing-over.ts";
import { type NodeSql, openSqlite } from "../../../runtime/host/ledger.ts";

export const HOUR = 3_600_000;
export const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Of a ledger on a host: its gateway is ready, and nobody is told of a delay. */
export const readyHost = {
  notify: async () => false,
  supervisor: {
    status: () => ({ state: "ready" as const }),
    onChange: () => () => {},
    needed: () => {},
    checkVolume: () => {},
  },
};

export const failed = { kind: "retry", note: "down" } as const satisfies AttemptResult;
export const answered = async (): Promise<AttemptResult> => ({
  kind: "settled",
  state: "answered",
  note: "answered",
});

/** An empty database for a ledger, and the time that its test moves. */
export class LedgerStage {
  now = 1_795_000_000_000;
  readonly #dir = mkdtempSync(path.join(tmpdir(), "steward-ledger-"));
  readonly sql: NodeSql = openSqlite(path.join(this.#dir, "state.db"));

  close(): void {
    this.sql.close();
    rmSync(this.#dir, { recursive: true });
  }

  event(id: string, conversation = "C1"): Delivery {
    return { id, platform: "slack", conversation, receivedAt: this.now, payload: { id } };
  }

  /** A dispatcher over a script of results; `seen` lists the deliveries in their order. */
  dispatcher(
    store: LedgerStore,
    results: (delivery: Delivery, call: number) => Promise<AttemptResult>,
    concurrency = 4,
  ) {
    const seen: string[] = [];
    const after: (string | undefined)[] = [];
    const wishes: number[] = [];
    const told: string[] = [];
    const runner = new Dispatcher({
      store,
      deliver: handOver((delivery, before) => {
        seen.push(delivery.id);
        after.push(before);
        return results(delivery, seen.length);
      }),
      notify: async ({ id }, notice) => {
        told.push(`${id} ${JSON.stringify(notice)}`);
        return true;
      },
      wakeAt: (time) => void wishes.push(time),
      clock: () => this.now,
      random: () => 0,
      log: silent,
      concurrency,
    });
    return { runner, seen, after, wishes, told };
  }
}

/** Deliveries that end when the test says so. */
export class Gates {
  readonly #open = new Map<string, (result: AttemptResult) => void>();

  wait(id: string): Promise<AttemptResult> {
    return new Promise((resolve) => this.#open.set(id, resolve));
  }

  /** Ends one, and lets what follows from it happen. */
  async end(id: string, result: AttemptResult | Promise<AttemptResult>): Promise<void> {
    this.#open.get(id)?.(await result);
    await turns();
  }
}
