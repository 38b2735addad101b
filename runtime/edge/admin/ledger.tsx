import type { Handler } from "hono";
import * as z from "zod/mini";
import { platformSchema } from "../../contract/delivery.ts";
import { StewardError } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { readFields, readQuery } from "../form.ts";
import { listQuery, replayKey } from "../ledger-routes.ts";
import { adminPage } from "../ui/console.tsx";
import { Age, Moment } from "../ui/time.tsx";
import type { Markup } from "../ui/document.tsx";
import { listingQuery, RANGES, SearchForm } from "../ui/listing.tsx";
import { SelectField } from "../ui/form.tsx";
import {
  ENTRY_STATES,
  type EntryState,
  type LedgerCounts,
  type LedgerEntry,
  type LedgerQuery,
} from "../ports.ts";
import { flashSchema, goTo } from "./flash.ts";
import type { AdminOptions } from "./options.ts";
import { PlainTable } from "../ui/table.tsx";

/** A state as people read it. */
const STATES: Record<EntryState, string> = {
  waiting: "Waiting",
  delivering: "In progress",
  answered: "Answered",
  ignored: "Ignored",
  failed: "Failed",
};

const TONES: Record<EntryState, string> = {
  waiting: "wait",
  delivering: "wait",
  answered: "ok",
  ignored: "wait",
  failed: "bad",
};

const ENTRIES = 50;
const ALL = ["", "All"] as const;
/** `<platform>:<the platform's event id>` */
const KEY = /^[a-z]+:\P{Cc}{1,256}$/u;
// Made when the page is asked for, and not at a start.
const pageQuery = () =>
  z.extend(z.omit(listQuery(), { limit: true }), {
    ...flashSchema().shape,
    range: listingQuery().shape.range,
  });

/** `GET /_admin/ledger?q=&state=&platform=&range=&before=`: counts and a page of entries; wakes nothing. */
export function showLedger({ ledger, clock }: AdminOptions): Handler<AccessVariables> {
  return async function handleLedgerPage(context) {
    const { done: _done, problem: _problem, ...filter } = readQuery(context, pageQuery());
    const { range, ...query } = filter;
    const now = clock();
    const [counts, { entries, next }] = await Promise.all([
      ledger.counts(),
      ledger.list({ ...query, limit: ENTRIES, ...(range && { since: now - RANGES[range][1] }) }),
    ]);
    const newest = <a href={address({ ...filter, before: undefined })}>Newest</a>;
    const content = (
      <>
        {countsPart(counts)} {filterForm(filter)}
        {entries.length === 0 ? <p class="soft">No events.</p> : entriesTable(entries, now)}
        <nav class="pages" aria-label="Pages of entries">
          {filter.before === undefined ? "" : newest}
          {next === undefined ? "" : <a href={address({ ...filter, before: next })}>Older</a>}
        </nav>
      </>
    );
    return adminPage(context, { title: "Events", waits: true }, content);
  };
}

/** `POST /_admin/ledger/replay`, field `key`; then back to the list. */
export function replayFromPage(options: AdminOptions): Handler<AccessVariables> {
  return async function handleReplayForm(context) {
    const { key } = await readFields(context.req.raw, { key: KEY });
    const by = context.get("identity").name;
    try {
      await replayKey(options, { by, key });
      return goTo(context, ROUTES.ledgerPage, "replayed");
    } catch (error) {
      if (!(error instanceof StewardError)) throw error;
      return goTo(context, ROUTES.ledgerPage, "replayed", error);
    }
  };
}

/** Filter as the query has it. */
type Filter = Omit<LedgerQuery, "limit" | "since"> & { range?: keyof typeof RANGES | undefined };

/** Renders how many events are in each state, each with the way to them. */
export function countsPart(counts: LedgerCounts): Markup {
  return (
    <dl class="stats">
      {ENTRY_STATES.map((state) => (
        <div>
          <dt>
            <a href={address({ state })}>{STATES[state]}</a>
          </dt>
          <dd>{counts[state]}</dd>
        </div>
      ))}
    </dl>
  );
}

function filterForm({ state, platform, q, range }: Filter): Markup {
  const states = [ALL, ...ENTRY_STATES.map((value) => [value, STATES[value]] as const)];
  const platforms = [ALL, ...platformSchema.options.map((value) => [value, value] as const)];
  return (
    <SearchForm path={ROUTES.ledgerPage.path} query={{ q, range }}>
      {
        <>
          <SelectField name="state" label="State" options={states} selected={state} />
          <SelectField name="platform" label="Platform" options={platforms} selected={platform} />
        </>
      }
    </SearchForm>
  );
}

function entriesTable(entries: readonly LedgerEntry[], now: number): Markup {
  return (
    <PlainTable
      label="Events"
      columns={["Received", "State", "Event", "Conversation", { number: "Attempts" }, "Note", "Action"]}
      rows={entries.map((entry) => entryRow(entry, now))}
    />
  );
}

function entryRow(entry: LedgerEntry, now: number): Markup {
  const { key, state, conversation, attempts, receivedAt, nextAt, settledAt, note, group } = entry;
  return (
    <tr>
      <td>
        <Age at={Date.parse(receivedAt)} now={now} />
      </td>
      <td>
        <span class={`badge ${TONES[state]}`}>{STATES[state]}</span>
      </td>
      <th scope="row">
        <code>{key}</code>
      </th>
      <td>
        <code>{conversation}</code>
      </td>
      <td class="number">{attempts}</td>
      <td>
        {note ?? ""}
        {settledAt === undefined ? (
          ""
        ) : (
          <span class="soft">
            finished <Age at={Date.parse(settledAt)} now={now} />
          </span>
        )}
        {nextAt === undefined ? (
          ""
        ) : (
          <span class="soft">
            next attempt <Moment at={nextAt} />
          </span>
        )}
      </td>
      <td>
        {group === undefined ? "" : allowLink(entry.platform, group, key)}
        {state === "failed" || state === "ignored" ? replayForm(key) : ""}
      </td>
    </tr>
  );
}

function allowLink(platform: string, group: string, key: string): Markup {
  // Once the group is allowed, the operator wants to replay this very event.
  const search = new URLSearchParams({ platform, group, from: address({ q: key }) });
  return (
    <p>
      <a href={`${ROUTES.configAllowGroup.path}?${search}`}>Answer in this group</a>
    </p>
  );
}

function replayForm(key: string): Markup {
  return (
    <form method="post" action={ROUTES.ledgerPageReplay.path}>
      <input type="hidden" name="key" value={key} />{" "}
      <button type="submit" aria-label={`Replay ${key}`}>
        Replay
      </button>
    </form>
  );
}

function address(query: Filter): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return `${ROUTES.ledgerPage.path}${search.size === 0 ? "" : `?${search}`}`;
}
