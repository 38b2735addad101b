import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type NodeSql, openSqlite } from "../../runtime/host/ledger.ts";
import { People } from "../../runtime/edge/tenants/people.ts";
import type { TenantReport } from "../../runtime/edge/tenants/ports.ts";
import { TenantRoster } from "../../runtime/edge/tenants/roster.ts";
import { type Figure, figure, median } from "../support/measure.ts";
import { fillRoster } from "../support/roster.ts";
import type { RunOptions } from "./run.ts";

const TENANTS = 10_000;
const FEW = 1_000;
const PAGE = 100;
const CALLS = 300;

type Call = "page" | "running" | "report" | "approval" | "barePage" | "bareReport";
type Times = Record<Call, number>;
type Works = Record<Call, (round: number) => unknown>;

/** The directory's tables with many tenants: time of its calls against bare statements on a table of the same size. */
export async function benchRoster({ runs, folder }: Pick<RunOptions, "runs" | "folder">): Promise<Figure[]> {
  const many: Times[] = [];
  const few: Times[] = [];
  const sizes: number[] = [];
  const withPeople: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const dir = join(folder, `roster${run}`);
    await mkdir(dir, { recursive: true });
    const small = prepare(join(dir, "few.db"), FEW);
    const large = prepare(join(dir, "many.db"), TENANTS);
    const [fewTimes, manyTimes] = timesOf(small.works, large.works);
    few.push(fewTimes);
    many.push(manyTimes);
    sizes.push(large.roster / TENANTS);
    withPeople.push(large.all / TENANTS);
    small.sql.close();
    large.sql.close();
  }
  const of = (name: keyof Times, pick = many): number[] => pick.map((times) => times[name]);
  const against = (name: keyof Times, other: keyof Times, pick = many): number[] =>
    many.map((times, run) => times[name] / (pick[run]?.[other] ?? Number.NaN));
  const what = `with ${TENANTS} chats`;
  return [
    figure(`the directory ${what}: a page of ${PAGE} from the middle`, "ms", of("page")),
    figure(
      `that against ${PAGE} bare rows of the same text, parsed too`,
      "ratio",
      against("page", "barePage"),
    ),
    figure(`that against the same with ${FEW} chats`, "ratio", against("page", "page", few), 1.3),
    figure(`the directory ${what}: a report, on disk`, "ms", of("report")),
    figure("that against a bare row that is replaced", "ratio", against("report", "bareReport")),
    figure(`that against the same with ${FEW} chats`, "ratio", against("report", "report", few), 1.3),
    figure(`the directory ${what}: the 500 that run`, "ms", of("running")),
    figure(`the directory ${what}: a person's approval, of as many`, "ms", of("approval")),
    figure("the directory's storage for a chat: its row, report and index entries", "B", sizes),
    figure("the same with its person: direct chat and approval", "B", withPeople),
  ];
}

/** A database with so many chats, the calls that are measured, and its size in bytes with and without people. */
function prepare(file: string, count: number) {
  const sql = openSqlite(file);
  const empty = sizeOf(sql);
  const roster = new TenantRoster(sql, Date.now);
  const { ids, running, report } = sql.transaction(() => fillRoster(roster, count));
  const rosterSize = sizeOf(sql) - empty;
  const people = new People({ sql, onChange: () => {}, clock: Date.now });
  const persons = ids.map((_, index) => `U0${1_000_000_000 + index}`);
  people.adopt("slack", { allowFrom: persons, operators: [] });
  sql.transaction(() => {
    for (const [index, id] of ids.entries()) people.meet("slack", persons[index] ?? "", id);
  });
  const all = sizeOf(sql) - empty;

  sql.all("CREATE TABLE bare (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
  sql.transaction(() => {
    for (const id of ids) sql.all("INSERT INTO bare VALUES (?, ?)", id, JSON.stringify(report));
  });
  const after = ids.toSorted()[count / 2] ?? "";
  const some = (call: number): string => ids[(call * 7) % count] ?? "";
  const given: TenantReport = { ...report, counts: { ...report.counts, answered: 41 } };
  const isRunning = new Set(running);
  const works: Works = {
    page: () => roster.list({ limit: PAGE, after }),
    barePage: () =>
      sql
        .all("SELECT key, value FROM bare WHERE key > ? ORDER BY key LIMIT ?", after, PAGE)
        .map(({ key, value }) => ({ key, value: JSON.parse(String(value)) as unknown })),
    running: () => roster.running(),
    report: (call) => roster.report(some(call), { ...given, running: isRunning.has(some(call)) }),
    bareReport: (call) =>
      sql.all("UPDATE bare SET value = ? WHERE key = ?", JSON.stringify(given), some(call)),
    approval: (call) => people.lists("slack").granted(persons[(call * 7) % count] ?? ""),
  };
  return { sql, works, roster: rosterSize, all };
}

/** Medians in milliseconds. The calls take turns, so that whatever else the machine does falls on all alike. */
function timesOf(...databases: [Works, Works]): [Times, Times] {
  const measured = databases.flatMap((works) =>
    Object.entries(works).map(([name, work]) => ({ works, name, work, found: [] as number[] })),
  );
  for (let round = 0; round < CALLS; round += 1) {
    for (const { work, found } of measured) {
      const started = performance.now();
      work(round);
      found.push(performance.now() - started);
    }
  }
  const of = (one: Works): Times =>
    Object.fromEntries(
      measured.filter(({ works }) => works === one).map(({ name, found }) => [name, median(found)]),
    ) as Times;
  return [of(databases[0]), of(databases[1])];
}

/** Bytes of the database's pages. */
function sizeOf(sql: NodeSql): number {
  const [row] = sql.all("SELECT page_count * page_size AS size FROM pragma_page_count(), pragma_page_size()");
  return Number(row?.["size"]);
}
