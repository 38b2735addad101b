import type { DatabaseSync } from "node:sqlite";
import type { ContractArea, ContractFinding } from "../contract/control.ts";
import { lightTransaction } from "../process/database.ts";
import { isRecord } from "../shared/json.ts";
import { oneLine } from "./prompt/text.ts";

/** Maximum number of stored findings; people in chats could otherwise trigger unlimited findings. */
const MOST = 200;
const LONGEST_WHAT = 200;
const LONGEST_SAMPLE = 2_000;
const DEEPEST = 8;
const MAX_ITEMS = 3;
/** Minimum interval between writes of the same finding, in milliseconds. */
const WRITE_EVERY_MS = 60_000;
/** Matches field names of a protocol. Any other key might contain a person's text, so it is not stored. */
const FIELD = /^[a-zA-Z$_][\w$-]{0,40}$/;

/** Reports data that the gateway did not understand. Stores only the shape of `sample`. */
export type Report = (area: ContractArea, what: string, sample?: unknown) => void;

/**
 * Records data from platforms, tools and models that was not understood. Stores counts, times and the shape of one
 * sample.
 */
export class ContractReport {
  readonly #database: DatabaseSync;
  readonly #clock: () => number;
  readonly #known = new Map<string, { writtenAt: number; unwritten: number }>();

  constructor(database: DatabaseSync, clock: () => number) {
    this.#database = database;
    this.#clock = clock;
    for (const { area, what } of this.list())
      this.#known.set(`${area} ${what}`, { writtenAt: 0, unwritten: 0 });
  }

  readonly note: Report = (area, given, sample) => {
    const what = oneLine(given, LONGEST_WHAT);
    const key = `${area} ${what}`;
    const known = this.#known.get(key) ?? { writtenAt: Number.NEGATIVE_INFINITY, unwritten: 0 };
    if (!this.#known.has(key) && this.#known.size >= MOST) return;
    this.#known.set(key, known);
    known.unwritten += 1;
    const now = this.#clock();
    if (now - known.writtenAt < WRITE_EVERY_MS) return;
    lightTransaction(this.#database, () =>
      this.#database
        .prepare(
          `INSERT INTO contract_findings (area, what, count, first_at, last_at, sample)
           VALUES (:area, :what, :count, :now, :now, :sample)
           ON CONFLICT (area, what) DO UPDATE SET count = count + excluded.count, last_at = excluded.last_at`,
        )
        .run({
          area,
          what,
          count: known.unwritten,
          now,
          sample: sample === undefined ? null : formOf(sample),
        }),
    );
    Object.assign(known, { writtenAt: now, unwritten: 0 });
  };

  /** Last seen first. */
  list(): ContractFinding[] {
    return this.#database
      .prepare(
        "SELECT area, what, count, last_at FROM contract_findings ORDER BY last_at DESC, area, what LIMIT ?",
      )
      .all(MOST)
      .map((row) => ({
        area: row["area"] as ContractArea,
        what: String(row["what"]),
        count: Number(row["count"]),
        lastAt: new Date(Number(row["last_at"])).toISOString(),
      }));
  }
}

/** Returns a value's structure as JSON: field names and types, but no strings or numbers. */
export function formOf(value: unknown): string {
  return JSON.stringify(form(value, 0)).slice(0, LONGEST_SAMPLE);
}

function form(value: unknown, depth: number): unknown {
  if (typeof value === "boolean" || value === null) return value;
  if (Array.isArray(value))
    return depth >= DEEPEST ? [] : value.slice(0, MAX_ITEMS).map((item) => form(item, depth + 1));
  if (!isRecord(value)) return typeof value;
  if (depth >= DEEPEST) return {};
  const fields = Object.entries(value).slice(0, LONGEST_WHAT);
  return Object.fromEntries(
    fields.map(([name, item]) => [FIELD.test(name) ? name : "…", form(item, depth + 1)]),
  );
}
