import { Dispatcher, type AttemptResult } from "../../../runtime/edge/ledger/dispatcher.ts";
import type { Sql } from "../../../runtime/edge/ledger/sql.ts";
import { LedgerStore } from "../../../runtime/edge/ledger/store.ts";
import type { LedgerCounts } from "../../../runtime/edge/ports.ts";
import { generator } from "../../support/random.ts";
import { handOver } from "../support/handing-over.ts";

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const HOUR = 3_600_000;
const STEPS = 1_500;
const CHATS = 9;
/** Behind the last jump: its hour, and the retries. */
const SETTLE_MS = 2 * HOUR;

/** What became of the events. */
export interface AfterJumps {
  events: number;
  jumps: number;
  counts: LedgerCounts;
  /** Ids that were delivered to an end other than once. */
  notOnce: string[];
  /** Ids of which two deliveries were under way at one time. */
  sideBySide: string[];
}

/**
 * Records events and delivers them, every third attempt in vain, while the clock jumps an hour ahead and an
 * hour back. Timers run by a time of their own, as they do in a process. For Node and workerd.
 */
export async function underClockJumps(sql: Sql, seed: number): Promise<AfterJumps> {
  const random = generator(seed);
  const answers = new Map<string, number>();
  const underWay = new Set<string>();
  const sideBySide: string[] = [];
  /** By how much the clock is ahead of the time that passes. */
  let ahead = 0;
  let passed = 1_795_000_000_000;
  let timer = Number.POSITIVE_INFINITY;
  const clock = (): number => passed + ahead;
  const store = new LedgerStore(sql);
  const deliver = async ({ id }: { id: string }): Promise<AttemptResult> => {
    if (underWay.has(id)) sideBySide.push(id);
    underWay.add(id);
    for (let turns = random() * 5; turns > 0; turns -= 1) await Promise.resolve();
    underWay.delete(id);
    if (random() < 0.3) return { kind: "retry", note: "down", absent: random() < 0.5 };
    answers.set(id, (answers.get(id) ?? 0) + 1);
    return { kind: "settled", state: "answered", note: "answered" };
  };
  const wakeAt = (time: number): void => void (timer = passed + Math.max(time - clock(), 0));
  const notify = async () => false;
  const dispatcher = new Dispatcher({
    store,
    deliver: handOver(deliver),
    notify,
    wakeAt,
    clock,
    random,
    log: silent,
    concurrency: 8,
  });
  const pass = (milliseconds: number): void => {
    passed += milliseconds;
    if (passed < timer) return;
    timer = Number.POSITIVE_INFINITY;
    dispatcher.run();
  };

  let jumps = 0;
  const ids: string[] = [];
  for (let step = 0; step < STEPS; step += 1) {
    const what = random();
    if (what < 0.5) {
      // Some are sent again by their platform.
      const id = what < 0.45 || ids.length === 0 ? `Ev${step}` : (ids.at(-1) ?? "");
      if (!ids.includes(id)) ids.push(id);
      const conversation = `C${Math.floor(random() * CHATS)}`;
      store.record({ id, platform: "slack", conversation, receivedAt: clock(), payload: {} });
      dispatcher.run();
    } else if (what < 0.55) {
      jumps += 1;
      ahead = ahead === 0 ? (random() < 0.5 ? HOUR : -HOUR) : 0;
    } else pass(random() * 2_000);
    if (random() < 0.5) await dispatcher.idle();
  }
  await dispatcher.idle();
  const end = passed + SETTLE_MS;
  const isOver = (): boolean => !store.hasOpen() || timer > end;
  while (!isOver()) {
    pass(timer - passed);
    await dispatcher.idle();
  }
  return {
    events: ids.length,
    jumps,
    counts: store.counts(),
    notOnce: ids.filter((id) => answers.get(id) !== 1),
    sideBySide,
  };
}
