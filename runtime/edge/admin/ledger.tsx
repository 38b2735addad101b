import * as z from "zod/mini";
import { PLATFORM_TITLES, platformSchema } from "../../contract/delivery.ts";
import { StewardError } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import { readFields, readQuery } from "../form.ts";
import { listQuery, namesIn, replayKey } from "../ledger-routes.ts";
import { adminPage } from "../ui/console.tsx";
import { Age, Moment } from "../ui/time.tsx";
import type { Markup } from "../ui/document.tsx";
import { listingQuery, RANGES, SearchForm } from "../ui/listing.tsx";
import { ActionButton, SelectField } from "../ui/form.tsx";
import {
  ENTRY_STATES,
  LEDGER_SORTS,
  type EntryState,
  type LedgerCounts,
  type LedgerEntry,
  type LedgerQuery,
} from "../ports.ts";
import { type Names, Person, platformOf } from "../ui/person.tsx";
import { flashSchema, goTo } from "./flash.ts";
import type { AdminOptions, PageContext } from "./options.ts";
import { Table } from "../ui/table.tsx";

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
/** `<platform>:<event id>` */
export const EVENT_KEY = /^[a-z]+:\P{Cc}{1,256}$/u;
// Built lazily to keep startup fast.
const pageQuery = () =>
  z.extend(z.omit(listQuery(), { limit: true }), {
    ...flashSchema().shape,
    range: listingQuery().shape.range,
    sort: z.optional(z.enum(LEDGER_SORTS)),
  });

/**
 * `GET /_admin/ledger?q=&state=&platform=&sender=&place=&range=&sort=&before=`: a page of events. Does not wake the
 * container.
 */
export async function showLedger(
  context: PageContext,
  { ledger, directory, clock }: AdminOptions,
): Promise<Response> {
  const { done: _done, problem: _problem, ...filter } = readQuery(context, pageQuery());
  const { range, ...query } = filter;
  const now = clock();
  await context.get("visitor")();
  const [counts, { entries, next }] = await Promise.all([
    ledger.counts(),
    ledger.list({ ...query, limit: ENTRIES, ...(range && { since: now - RANGES[range][1] }) }),
  ]);
  const { sender, place } = filter;
  const names = await namesIn(directory, [...entries, { sender, place }]);
  const { before: _before, ...first } = filter;
  const content = (
    <>
      <StateChips counts={counts} filter={first} names={names} />
      <FilterForm filter={first} />
      {entries.length === 0 ? (
        <p class="empty">No events.</p>
      ) : (
        <EventTable entries={entries} names={names} filter={first} now={now} />
      )}
      <nav class="pages" aria-label="Pages of entries">
        {filter.before !== undefined && <a href={address(first)}>{filter.sort ? "First page" : "Newest"}</a>}
        {next !== undefined && (
          <a href={address({ ...first, before: next })}>{filter.sort ? "Next page" : "Older"}</a>
        )}
      </nav>
    </>
  );
  return adminPage(context, { title: "Events", waits: true }, content);
}

/** `POST /_admin/ledger/replay`, field `key`: replays an event and returns to the list. */
export async function replayFromPage(context: PageContext, options: AdminOptions): Promise<Response> {
  const { key } = await readFields(context.req.raw, { key: EVENT_KEY });
  const by = context.get("identity").name;
  try {
    await replayKey(options, { by, key });
    return goTo(context, ROUTES.ledgerPage, "replayed");
  } catch (error) {
    if (!(error instanceof StewardError)) throw error;
    return goTo(context, ROUTES.ledgerPage, "replayed", error);
  }
}

type Filter = Omit<LedgerQuery, "limit" | "since" | "tenant"> & { range?: keyof typeof RANGES | undefined };

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

interface StateChipsProps {
  counts: LedgerCounts;
  filter: Filter;
  names: Names;
}

function StateChips({ counts, filter, names }: StateChipsProps): Markup {
  const { state, sender, place } = filter;
  return (
    <ul class="chips" aria-label="Filters">
      {ENTRY_STATES.map((one) => (
        <li>
          <a
            href={address({ ...filter, state: one === state ? undefined : one })}
            aria-current={one === state ? "true" : undefined}
          >
            {STATES[one]} <b>{counts[one]}</b>
          </a>
        </li>
      ))}
      {sender !== undefined && (
        <ChosenChip href={address({ ...filter, sender: undefined })} id={sender} names={names} />
      )}
      {place !== undefined && (
        <ChosenChip href={address({ ...filter, place: undefined })} id={place} names={names} />
      )}
    </ul>
  );
}

function ChosenChip({ href, id, names }: { href: string; id: string; names: Names }): Markup {
  return (
    <li>
      <a href={href} aria-current="true" title={id}>
        <bdi>{names.get(id)?.name ?? id}</bdi> ×
      </a>
    </li>
  );
}

function FilterForm({ filter }: { filter: Filter }): Markup {
  const { q, range, sort, platform } = filter;
  const platforms = [
    ["", "All"] as const,
    ...platformSchema.options.map((value) => [value, PLATFORM_TITLES[value]] as const),
  ];
  const hidden = (["state", "sender", "place"] as const).filter((name) => filter[name] !== undefined);
  return (
    <SearchForm path={ROUTES.ledgerPage.path} query={{ q, range, sort }}>
      {
        <>
          {hidden.map((name) => (
            <input type="hidden" name={name} value={filter[name]} />
          ))}
          <SelectField name="platform" label="Platform" options={platforms} selected={platform} />
        </>
      }
    </SearchForm>
  );
}

interface EventTableProps {
  entries: readonly LedgerEntry[];
  names: Names;
  /** Filter without the page. */
  filter: Filter;
  now: number;
}

function EventTable({ entries, names, filter, now }: EventTableProps): Markup {
  return (
    <Table<LedgerEntry>
      label="Events"
      rows={entries}
      order={{
        sort: filter.sort,
        href: (sort) => address({ ...filter, sort: LEDGER_SORTS.find((one) => one === sort) }),
      }}
      columns={[
        {
          head: "Received",
          kind: "name",
          by: ({ receivedAt }) => Date.parse(receivedAt),
          cell: ({ key, receivedAt }) => (
            <a href={eventAddress(key)} title={key} data-drawer="">
              <Age at={Date.parse(receivedAt)} now={now} />
            </a>
          ),
        },
        {
          head: "Person",
          by: ({ sender = "" }) => sender,
          cell: ({ sender }) => <SenderName sender={sender} names={names} />,
        },
        {
          head: "Place",
          by: ({ place = "" }) => place,
          cell: (entry) => <PlaceName entry={entry} names={names} />,
        },
        { head: "Outcome", by: ({ state }) => state, cell: (entry) => <Outcome entry={entry} /> },
        { head: "Remedy", kind: "action", cell: (entry) => <Remedies entry={entry} names={names} /> },
      ]}
    />
  );
}

/** Renders the sender of an event with a link to the person's other events. */
export function SenderName({ sender, names }: { sender: string | undefined; names: Names }): Markup | null {
  if (sender === undefined) return null;
  return <Person id={sender} entry={names.get(sender)} href={address({ sender })} />;
}

/** Renders the chat of an event by platform and name. */
export function PlaceName({ entry, names }: { entry: LedgerEntry; names: Names }): Markup {
  const { conversation, place = conversation, platform } = entry;
  const known = names.get(place);
  return (
    <Person
      id={place}
      entry={known}
      name={known?.kind === "person" ? "Direct message" : undefined}
      lead={platformOf(platform)}
      href={entry.place && address({ place })}
    />
  );
}

/** Renders an event's outcome and its next attempt. */
export function Outcome({ entry }: { entry: LedgerEntry }): Markup {
  const { state, note, nextAt } = entry;
  const isSaid = note === undefined || note === "answered";
  return (
    <span class="outcome">
      <span class={`badge ${TONES[state]}`}>{STATES[state]}</span>
      {!isSaid && <span title={note}>{note}</span>}
      {nextAt !== undefined && (
        <span class="soft">
          next attempt <Moment at={nextAt} />
        </span>
      )}
    </span>
  );
}

/** Renders actions for an event that was not answered. */
export function Remedies({ entry, names }: { entry: LedgerEntry; names: Names }): Markup {
  const { key, state, platform, group, sender } = entry;
  const whose = (sender === undefined ? undefined : names.get(sender)?.name) ?? "unknown";
  return (
    <div class="actions">
      {group !== undefined && <AnswerHere platform={platform} group={group} from={address({ q: key })} />}
      {(state === "failed" || state === "ignored") && (
        <ActionButton
          action={ROUTES.ledgerPageReplay.path}
          fields={[["key", key]]}
          tone="quiet"
          label={`Replay ${key}, from ${whose}`}
        >
          Replay
        </ActionButton>
      )}
    </div>
  );
}

interface AnswerHereProps {
  platform: string;
  group: string;
  /** Path of the page to return to. */
  from: string;
}

/** Renders a link to the page that adds the group to the config. */
export function AnswerHere(query: AnswerHereProps): Markup {
  return (
    <a href={`${ROUTES.configAllowGroup.path}?${new URLSearchParams({ ...query })}`}>Answer in this group</a>
  );
}

function eventAddress(key: string): string {
  return `${ROUTES.ledgerEvent.path}?${new URLSearchParams({ key })}`;
}

function address(query: Filter): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return `${ROUTES.ledgerPage.path}${search.size === 0 ? "" : `?${search}`}`;
}
