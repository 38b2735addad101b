import { cp } from "node:fs/promises";
import { join } from "node:path";
import { openSqlite } from "../../runtime/host/ledger.ts";
import { openStore } from "../../runtime/gateway/store.ts";
import { Sessions } from "../../runtime/gateway/sessions/store.ts";
import { figure, median, type Figure } from "../support/measure.ts";
import { askInTurn } from "./messages.ts";
import { startService, type Surroundings } from "../support/service.ts";
import { emptyHome, measureStart } from "./start.ts";

const SESSIONS = 10_000;
const MESSAGES_EACH = 6;
const LEDGER_ROWS = 1_000_000;
const OPEN_ROWS = 10_000;
const MESSAGES = 100;
const AT_MOST = 1.2;
/** Settled an hour ago: nothing of it is due to be pruned. */
const SETTLED_AGO_MS = 3_600_000;

/** What {@link benchGrowth} works with. */
export interface GrowthOptions {
  bundleDir: string;
  surroundings: Surroundings;
  runs: number;
  folder: string;
}

interface Measured {
  ready: number;
  resident: number;
  message: number;
}

/** The same figures with a full data directory as with an empty one, as ratios. */
export async function benchGrowth(options: GrowthOptions): Promise<Figure[]> {
  const { folder } = options;
  const small = await emptyHome(join(folder, "small"));
  await makeStores(options, small);
  const large = await emptyHome(join(folder, "large"));
  await cp(small, large, { recursive: true });
  fill(join(large, "data", "state.db"));
  const pairs: [Measured, Measured][] = [];
  // In turn, so that whatever else the machine does falls on both alike.
  for (let run = 0; run < options.runs; run += 1) {
    pairs.push([await measure(options, small), await measure(options, large)]);
  }
  const ratios = (pick: (one: Measured) => number): number[] =>
    pairs.map(([before, after]) => pick(after) / pick(before));
  const what = `with ${SESSIONS} sessions and ${LEDGER_ROWS} ledger rows, against empty`;
  return [
    figure(
      `spawn to 18789 accepting ${what}`,
      "ratio",
      ratios((one) => one.ready),
      AT_MOST,
    ),
    figure(
      `resident memory at ready ${what}`,
      "ratio",
      ratios((one) => one.resident),
      AT_MOST,
    ),
    figure(
      `a message's median ${what}`,
      "ratio",
      ratios((one) => one.message),
      AT_MOST,
    ),
  ];
}

async function measure({ bundleDir, surroundings }: GrowthOptions, home: string): Promise<Measured> {
  const { ready, resident } = await measureStart({
    bundleDir,
    surroundings,
    runs: 1,
    home: async () => home,
  });
  const service = await startService(bundleDir, "host/main.js", home, surroundings.environment);
  await askInTurn(surroundings.slack, service.url, 10, 5);
  const times = await askInTurn(surroundings.slack, service.url, MESSAGES, 20);
  await service.stop();
  return { ready: ready[0] ?? Number.NaN, resident: resident[0] ?? Number.NaN, message: median(times) };
}

/** A first run writes the config and the tables. */
async function makeStores({ bundleDir, surroundings }: GrowthOptions, home: string): Promise<void> {
  const service = await startService(bundleDir, "host/main.js", home, surroundings.environment);
  await askInTurn(surroundings.slack, service.url, 1, 1);
  await service.stop();
}

function fill(path: string): void {
  const store = openStore(path);
  const sessions = new Sessions(store);
  const at = Date.now() - SETTLED_AGO_MS;
  store.exec("BEGIN");
  for (let session = 0; session < SESSIONS; session += 1) {
    for (let message = 0; message < MESSAGES_EACH; message += 1) {
      sessions.append({
        session: `slack:G${session}`,
        delivery: `g${session}-${Math.floor(message / 2)}`,
        role: message % 2 === 0 ? "user" : "assistant",
        text: `message ${message} of a conversation that was held before the measurement`,
        at,
      });
    }
  }
  store.exec("COMMIT");
  store.close();

  const ledger = openSqlite(path);
  fillLedger((statement, ...values) => ledger.all(statement, ...values), { open: 0 });
  ledger.close();
}

const NUMBERS = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)";

/** A ledger with a million rows that are settled, and some that wait for a later attempt. */
export function fillLedger(
  all: (statement: string, ...values: (string | number)[]) => unknown,
  { open = OPEN_ROWS } = {},
): void {
  const at = Date.now() - SETTLED_AGO_MS;
  const insert =
    "INSERT INTO ledger (key, conversation, delivery, state, attempts, received_at, next_at, settled_at, note)";
  all(
    `${insert} ${NUMBERS}
     SELECT 'slack:filled' || n, 'slack:T1:G' || (n % 10000), '{}', 'answered', 1, ?, ?, ?, 'answered' FROM numbers`,
    LEDGER_ROWS,
    at,
    at,
    at,
  );
  if (open === 0) return;
  all(
    `${insert} ${NUMBERS}
     SELECT 'slack:open' || n, 'slack:T1:O' || n, '{}', 'waiting', 1, ?, ?, NULL, 'refused' FROM numbers`,
    open,
    at,
    Date.now() + SETTLED_AGO_MS,
  );
}
