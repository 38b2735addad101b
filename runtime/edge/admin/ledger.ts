import type { Handler } from "hono";
import { html } from "hono/html";
import * as z from "zod/mini";
import { platformSchema } from "../../contract/delivery.ts";
import { StewardError } from "../../contract/errors.ts";
import type { Log } from "../../contract/log.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { readField, readQuery } from "../form.ts";
import { listQuery, replayKey } from "../ledger-routes.ts";
import { adminFrame, type Visitor } from "../pages/admin-frame.ts";
import { age, moment } from "../pages/age.ts";
import { contentSecurityPolicy, type Markup } from "../pages/layout.ts";
import {
  type Clock,
  ENTRY_STATES,
  type EntryState,
  type Ledger,
  type LedgerCounts,
  type LedgerEntry,
  type LedgerPage,
  type LedgerQuery,
} from "../ports.ts";
import { type Flash, flashQuery, flashSchema } from "./flash.ts";

/** A state as people read it. */
const STATES: Record<EntryState, string> = {
  waiting: "Waiting",
  delivering: "Being delivered",
  answered: "Answered",
  ignored: "Ignored",
  failed: "Failed",
};

const ENTRIES = 50;
/** `<platform>:<the platform's event id>` */
const KEY = /^[a-z]+:\P{Cc}{1,256}$/u;
// Made when the page is asked for, and not at a start.
const pageQuery = () => z.extend(z.omit(listQuery(), { limit: true }), flashSchema.shape);

/** `GET /_admin/ledger?state=&platform=&before=`: counts and a page of entries; wakes nothing. */
export function showLedger(ledger: Ledger, clock: Clock, signsOut: boolean): Handler<AccessVariables> {
  return async function handleLedgerPage(context) {
    const { done, problem, ...filter } = readQuery(context, pageQuery());
    const [counts, entries] = await Promise.all([
      ledger.counts(),
      ledger.list({ ...filter, limit: ENTRIES }),
    ]);
    const visitor = { identity: context.get("identity"), signsOut };
    const flash = { done, problem };
    context.header("content-security-policy", await contentSecurityPolicy());
    return context.html(ledgerPage({ visitor, flash, counts, filter, page: entries, now: clock() }));
  };
}

/** `POST /_admin/ledger/replay`, field `key`; then back to the list. */
export function replayFromPage(ledger: Ledger, log: Log): Handler<AccessVariables> {
  return async function handleReplayForm(context) {
    const by = context.get("identity").name;
    const [key = "", ...others] = await readField(context.req.raw, "key", KEY);
    if (others.length > 0) throw new StewardError("form_invalid");
    const back = (query: string) => context.redirect(`${ROUTES.ledgerPage.path}${query}`, 303);
    try {
      await replayKey(ledger, log, { by, key });
      return back(flashQuery("replayed"));
    } catch (error) {
      if (!(error instanceof StewardError)) throw error;
      return back(flashQuery("replayed", error.code));
    }
  };
}

/** Content of the page of the ledger. */
interface LedgerView {
  visitor: Visitor;
  flash: Flash;
  counts: LedgerCounts;
  filter: Omit<LedgerQuery, "limit">;
  page: LedgerPage;
  now: number;
}

/** The page of `/_admin/ledger`. */
function ledgerPage({ visitor, flash, counts, filter, page, now }: LedgerView): Markup {
  const { entries, next } = page;
  return adminFrame(
    { title: "Ledger", visitor, flash },
    html`<h2>Events by state</h2>
      <dl>
        ${ENTRY_STATES.map(
          (state) =>
            html`<dt><a href="${address({ state })}">${STATES[state]}</a></dt>
              <dd>${counts[state]}</dd>`,
        )}
      </dl>
      <h2>Entries</h2>
      ${filterForm(filter)} ${entries.length === 0 ? html`<p class="soft">None.</p>` : ""}
      <ul class="cards">
        ${entries.map((entry) => entryCard(entry, now))}
      </ul>
      <nav aria-label="Pages of entries">
        ${
          filter.before === undefined
            ? ""
            : html`<a href="${address({ ...filter, before: undefined })}">Newest</a>`
        }
        ${next === undefined ? "" : html`<a href="${address({ ...filter, before: next })}">Older</a>`}
      </nav>`,
  );
}

function filterForm({ state, platform }: LedgerView["filter"]): Markup {
  const states = ENTRY_STATES.map((value) => [value, STATES[value]] as const);
  const platforms = platformSchema.options.map((value) => [value, value] as const);
  return html`<form class="row" method="get" action="${ROUTES.ledgerPage.path}">
    ${selection("state", "State", states, state)} ${selection("platform", "Platform", platforms, platform)}
    <button type="submit">Show</button>
  </form>`;
}

function selection(
  name: string,
  label: string,
  options: readonly (readonly [value: string, text: string])[],
  selected: string | undefined,
): Markup {
  return html`<label
    >${label}
    <select name="${name}">
      <option value="">All</option>
      ${options.map(
        ([value, text]) =>
          html`<option value="${value}" ${value === selected ? "selected" : ""}>${text}</option>`,
      )}
    </select></label
  >`;
}

function entryCard(entry: LedgerEntry, now: number): Markup {
  const { key, state, conversation, attempts, receivedAt, nextAt, settledAt, note, group } = entry;
  return html`<li>
    <h3>${key}</h3>
    <dl>
      <dt>State</dt>
      <dd>${STATES[state]}</dd>
      <dt>Conversation</dt>
      <dd>${conversation}</dd>
      <dt>Attempts</dt>
      <dd>${attempts}</dd>
      <dt>Received</dt>
      <dd>${age(Date.parse(receivedAt), now)}</dd>
      ${settledAt === undefined ? "" : row("Settled", age(Date.parse(settledAt), now))}
      ${nextAt === undefined ? "" : row("Next attempt", moment(nextAt))}
      ${note === undefined ? "" : row(state === "ignored" ? "Reason" : "Note", note)}
    </dl>
    ${group === undefined ? "" : allowLink(entry.platform, group)}
    ${state === "failed" || state === "ignored" ? replayForm(key) : ""}
  </li>`;
}

function row(name: string, value: Markup | string): Markup {
  return html`<dt>${name}</dt>
    <dd>${value}</dd>`;
}

function allowLink(platform: string, group: string): Markup {
  const search = new URLSearchParams({ platform, group });
  return html`<p><a href="${ROUTES.configAllowGroup.path}?${search}">Answer in this group</a></p>`;
}

function replayForm(key: string): Markup {
  return html`<form method="post" action="${ROUTES.ledgerPageReplay.path}">
    <input type="hidden" name="key" value="${key}" />
    <button type="submit" aria-label="Deliver again ${key}">Deliver again</button>
  </form>`;
}

function address(query: Omit<LedgerQuery, "limit">): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return `${ROUTES.ledgerPage.path}${search.size === 0 ? "" : `?${search}`}`;
}
