import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Log } from "../shared/log.ts";
import { Actions } from "./actions.ts";
import { SpendingStore } from "./agent/limits.ts";
import { ChatMoves } from "./channels/telegram/moves.ts";
import { ContractReport } from "./contract-report.ts";
import { DeliveryRecords, FirstWords } from "./inbox/records.ts";
import { DeviceStore, type DeviceStoreOptions } from "./devices.ts";
import { SourceUsageStore, UsageStore } from "./models/usage.ts";
import { pairingStores, type PairingStores } from "./pairing/store.ts";
import { WaitingSenders } from "./pairing/desk.ts";
import { ScheduleStore } from "./schedules/store.ts";
import { Sessions } from "./sessions/store.ts";
import { openStore } from "./store.ts";
import { WebOutbox } from "./webchat/outbox.ts";

/** Everything that outlives the process: one database, and JSON stores shared with the CLI. */
export interface Stores {
  database: DatabaseSync;
  sessions: Sessions;
  usage: UsageStore;
  sources: SourceUsageStore;
  spending: SpendingStore;
  records: DeliveryRecords;
  firstWords: FirstWords;
  waiting: WaitingSenders;
  schedules: ScheduleStore;
  moves: ChatMoves;
  contract: ContractReport;
  actions: Actions;
  outbox: WebOutbox;
  pairing: PairingStores;
  devices: DeviceStore;
}

export interface StoresOptions {
  home: string;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/**
 * Opens the stores. A corrupt store is renamed, reported and replaced by an empty one.
 *
 * @throws StewardError if the database cannot be opened.
 */
export function openStores({ home, clock, log }: StoresOptions): Stores {
  const onSetAside = (report: object): void =>
    log.error("a store could not be read and was set aside", { ...report });
  const database = openStore(join(home, "state.db"), onSetAside);
  const actions = new Actions(database, clock);
  const files: DeviceStoreOptions = { home, clock, onSetAside };
  return {
    database,
    sessions: new Sessions(database),
    usage: new UsageStore(database),
    sources: new SourceUsageStore(database),
    spending: new SpendingStore(database),
    records: new DeliveryRecords(database),
    firstWords: new FirstWords(database),
    waiting: new WaitingSenders(database),
    schedules: new ScheduleStore(database),
    moves: new ChatMoves(database),
    contract: new ContractReport(database, clock),
    actions,
    outbox: new WebOutbox({ database, actions, clock }),
    pairing: pairingStores(files),
    devices: new DeviceStore(files),
  };
}
