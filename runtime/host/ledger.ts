import type { StatementSync } from "node:sqlite";
import type { SandboxStatus } from "../contract/control.ts";
import type { Delivery } from "../contract/delivery.ts";
import type { Log } from "../shared/log.ts";
import { type DeliverOptions, deliverTo } from "../edge/ledger/deliver.ts";
import { type Deliver, Dispatcher, Notices, type NotifyChat } from "../edge/ledger/dispatcher.ts";
import type { Row, Sql, SqlValue } from "../edge/ledger/sql.ts";
import { LedgerStore, type RecordOutcome } from "../edge/ledger/store.ts";
import type { Clock, Ledger, NameDirectory, Sandbox } from "../edge/ports.ts";
import {
  type DatabaseSetAside,
  type HeldDatabase,
  lightTransaction,
  openDatabase,
  transaction,
} from "../process/database.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";
import { Timer } from "./timer.ts";

/** Maximum concurrent requests that deliver events. */
const CONCURRENCY = 128;

interface LedgerOptions {
  sql: NodeSql;
  supervisor: Pick<Supervisor, "onChange" | "needed" | "checkVolume"> & {
    status(): Pick<SandboxStatus, "state"> & Partial<Pick<SandboxStatus, "since">>;
  };
  sandbox: Pick<Sandbox, "request">;
  notify: NotifyChat;
  record: DeliverOptions["record"];
  tenancy?: TenantDeliveries | undefined;
  clock: Clock;
  log: Log;
}

interface TenantDeliveries {
  /** Called before an event is recorded. Rejects if the event must not be accepted. */
  arrives(event: Delivery): Promise<void>;
  /**
   * Returns true if the event needs no gateway, or if its chat's gateway is ready; `undefined` for an event without a
   * chat.
   */
  isReady(event: Delivery): boolean | undefined;
  deliver: Deliver;
}

export interface RunningLedger extends Ledger, NameDirectory {
  oldestOpen(): number | undefined;
  /** Immediately retries deliveries of these conversations, but only those postponed for the reason `note`. */
  makeDue(conversations: readonly string[], note: string): void;
  /** Stops starting deliveries and waits for those in progress. */
  close(): Promise<void>;
}

export function createLedger(options: LedgerOptions): RunningLedger {
  const { sql, supervisor, sandbox, notify, record, tenancy, clock, log } = options;
  const store = new LedgerStore(sql);
  const arrivals = new Arrivals(sql, store, clock);
  const dispatchAt = new Timer(clock, () => dispatch());
  const noticesAt = new Timer(clock, () => lookForNotices());
  const dispatcher = new Dispatcher({
    store,
    deliver: tenancy?.deliver ?? ((request, on) => deliverTo({ sandbox, record, clock }, request, on)),
    notify,
    wakeAt: (time) => dispatchAt.set(time),
    readyAt: () => {
      const { state, since } = supervisor.status();
      return state === "ready" && since !== undefined ? Date.parse(since) : undefined;
    },
    clock,
    random: Math.random,
    log,
    concurrency: CONCURRENCY,
  });
  // If one gateway serves every chat, deliver only while it is ready; `onChange` calls `dispatch` when its state
  // changes. If each chat has its own gateway, a delivery starts it.
  const dispatch = (): void => {
    if (tenancy !== undefined || supervisor.status().state === "ready") dispatcher.run();
  };
  const stopListening = supervisor.onChange(dispatch);
  const notices = new Notices({ store, notify, wakeAt: (time) => noticesAt.set(time), clock, log });
  let isClosed = false;
  let willLook = false;
  const lookForNotices = (): void => {
    willLook = false;
    // After `close`, a run would set the timer again.
    if (!isClosed) notices.run();
  };
  lookForNotices();

  return {
    async admit(event) {
      const record = async (): Promise<RecordOutcome> => {
        await tenancy?.arrives(event);
        return arrivals.record(event);
      };
      const recorded = await record().catch((error: unknown) => {
        supervisor.checkVolume();
        throw error;
      });
      if (recorded === "left") return { duplicate: true, ready: true };
      const own = tenancy?.isReady(event);
      const ready = own ?? supervisor.status().state === "ready";
      if (own === undefined && !ready) supervisor.needed();
      // Dispatch after responding, so that the platform does not wait for the delivery.
      setImmediate(dispatch);
      // If an older message of this chat has waited a long time, the new message's notice is due immediately.
      if (!willLook) setImmediate(lookForNotices);
      willLook = true;
      return { duplicate: recorded === "known", ready };
    },
    oldestOpen: () => store.oldestOpen(),
    counts: async () => store.counts(),
    list: async (query) => store.list(query),
    details: async (key) => store.details(key),
    excerpt: async (key) => store.excerpt(key),
    names: async (keys) => store.names.names(keys),
    entries: async (query) => store.names.entries(query),
    noteNames: async (sightings) => store.names.record(sightings, clock()),
    recent: async (limit) => store.recent(limit),
    async replay(key) {
      const result = store.replay(key, clock());
      if (result === "replayed") setImmediate(dispatch);
      return result;
    },
    makeDue(conversations, note) {
      store.makeDue(conversations, note, clock());
      dispatch();
    },
    async close() {
      isClosed = true;
      dispatchAt.clear();
      noticesAt.clear();
      stopListening();
      await dispatcher.stop();
    },
  };
}

interface Arrival {
  event: Delivery;
  recorded(as: RecordOutcome): void;
  failed(error: unknown): void;
}

/** Records the events of one event loop turn in one transaction, with one flush to disk. */
class Arrivals {
  readonly #sql: NodeSql;
  readonly #store: LedgerStore;
  readonly #clock: Clock;
  #waiting: Arrival[] = [];

  constructor(sql: NodeSql, store: LedgerStore, clock: Clock) {
    this.#sql = sql;
    this.#store = store;
    this.#clock = clock;
  }

  /** Records an event. Resolves when it is on disk, or if it need not be stored. Rejects if storing fails. */
  record(event: Delivery): Promise<RecordOutcome> {
    return new Promise((recorded, failed) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#commit());
      this.#waiting.push({ event, recorded, failed });
    });
  }

  #commit(): void {
    const arrivals = this.#waiting;
    this.#waiting = [];
    try {
      const results = this.#sql.transaction(() =>
        arrivals.map(({ event }) => this.#store.record(event, this.#clock())),
      );
      for (const [index, { recorded }] of arrivals.entries()) recorded(results[index] ?? "known");
    } catch (error) {
      for (const { failed } of arrivals) failed(error);
    }
  }
}

export interface NodeSql extends Sql, Pick<HeldDatabase, "problem"> {
  close(): void;
}

export function openSqlite(file: string, onSetAside?: (report: DatabaseSetAside) => void): NodeSql {
  const database = openDatabase(file, onSetAside);
  const prepared = new Map<string, StatementSync>();
  const prepare = (statement: string): StatementSync => {
    const known = prepared.get(statement) ?? database.prepare(statement);
    prepared.set(statement, known);
    return known;
  };
  return {
    all: (statement: string, ...values: SqlValue[]) => prepare(statement).all(...values) as Row[],
    transaction: (work) => transaction(database, work),
    lightTransaction: (work) => lightTransaction(database, work),
    problem: () => database.problem(),
    close: () => database.close(),
  };
}
