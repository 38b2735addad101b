import type { Handler } from "hono";
import * as z from "zod/mini";
import { platformSchema } from "../contract/delivery.ts";
import { StewardError } from "../contract/errors.ts";
import type { Log } from "../shared/log.ts";
import type { AccessVariables } from "./access.ts";
import { readJsonBody } from "./admission/body.ts";
import {
  ENTRY_STATES,
  type Ledger,
  type LedgerQuery,
  type NameDirectory,
  type NameEntry,
  type RecordChange,
} from "./ports.ts";
import { readQuery, wholeNumber } from "./form.ts";

const MAX_ENTRIES = 200;
/** Schema of a ledger query, built on demand to keep startup fast. */
export const listQuery = () =>
  z.strictObject({
    state: z.optional(z.enum(ENTRY_STATES)),
    platform: z.optional(platformSchema),
    limit: z._default(wholeNumber(1, MAX_ENTRIES), 50),
    before: z.optional(wholeNumber(1, Number.MAX_SAFE_INTEGER)),
    q: z.optional(z.string().check(z.maxLength(100))),
    sender: z.optional(z.string().check(z.maxLength(256))),
    place: z.optional(z.string().check(z.maxLength(256))),
  });
const replayBody = () => z.strictObject({ key: z.string().check(z.minLength(1), z.maxLength(300)) });

/**
 * `GET /debug/ledger?state=&platform=&sender=&place=&q=&limit=&before=`: counts, a page of entries (newest first),
 * and the names of senders and places. Does not wake the container.
 */
export function debugLedger(ledger: Ledger, directory: NameDirectory): Handler {
  return async function handleLedger(context) {
    const query = readQuery(context, listQuery());
    const [counts, page] = await Promise.all([ledger.counts(), ledger.list(query)]);
    const names = named(await namesIn(directory, page.entries));
    return context.json({ counts, ...page, ...(names.size > 0 && { names: Object.fromEntries(names) }) });
  };
}

/**
 * Returns the directory entries of all known senders and places that occur in `entries`, by key; see {@link namesOf}.
 */
export async function namesIn(
  directory: NameDirectory,
  entries: readonly Pick<LedgerQuery, "sender" | "place">[],
): Promise<Map<string, NameEntry>> {
  const keys = new Set(entries.flatMap(({ sender = [], place = [] }) => [sender, place].flat()));
  return namesOf(directory, [...keys]);
}

/**
 * Returns the directory's entries by key. Omits keys that have no entry. Returns an empty map if the directory does
 * not answer.
 */
export async function namesOf(
  directory: NameDirectory,
  keys: readonly string[],
): Promise<Map<string, NameEntry>> {
  return keys.length === 0 ? new Map() : directory.names(keys).catch(() => new Map());
}

export async function knownNames(
  directory: NameDirectory,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  return named(await namesOf(directory, keys));
}

function named(entries: ReadonlyMap<string, NameEntry>): Map<string, string> {
  const names = [...entries].flatMap(([key, { name }]): [string, string][] =>
    name === undefined ? [] : [[key, name]],
  );
  return new Map(names);
}

export interface ReplayOptions {
  ledger: Ledger;
  log: Log;
  record: RecordChange;
}

/** `POST /_admin/api/ledger/replay` `{key}`: redelivers a failed or ignored entry as if it were new. */
export function replayEntry(options: ReplayOptions): Handler<AccessVariables> {
  return async function handleReplay(context) {
    const value = await readJsonBody(context.req.raw);
    const body = replayBody().safeParse(value);
    if (!body.success) throw new StewardError("body_invalid", 'The body is not {"key": "<platform>:<id>"}.');
    const { key } = body.data;
    await replayKey(options, { by: context.get("identity").name, key });
    return context.json({ key, state: "waiting" });
  };
}

/**
 * Redelivers an entry and records who requested it.
 *
 * @throws StewardError `ledger_entry_unknown` or `ledger_entry_not_replayable`.
 */
export async function replayKey(
  { ledger, log, record }: ReplayOptions,
  wish: { by: string; key: string },
): Promise<void> {
  const { key } = wish;
  const result = await ledger.replay(key);
  if (result === "unknown") throw new StewardError("ledger_entry_unknown", `No entry has the key ${key}.`);
  if (result === "not_replayable") throw new StewardError("ledger_entry_not_replayable");
  log.info("operator replays an event", { ...wish });
  await record(wish.by, "replay", key);
}
