import type { Handler } from "hono";
import { html } from "hono/html";
import * as z from "zod/mini";
import type { RetentionNotice, SandboxStatus } from "../../contract/control.ts";
import type { Reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables, Visitor } from "../access.ts";
import { sessions } from "../../operations/sessions.ts";
import { operate } from "../operate.ts";
import { adminFrame, htmlPage } from "../pages/admin-frame.ts";
import { age } from "../pages/age.ts";
import { reasonBox, stateLine } from "../pages/home.ts";
import type { Markup } from "../pages/layout.ts";
import { type ListingQuery, listingQuery, pageLinks, pageOf, searchForm } from "../pages/listing.ts";
import { readQuery } from "../form.ts";
import type { AnswerMemory, Clock, Sandbox } from "../ports.ts";
import { askOrRecall } from "./answers.ts";
import { type Flash, flashSchema, readFlash } from "./flash.ts";
import { dataTable } from "../pages/table.ts";

const LIMIT_MS = 10_000;

/** Dependencies of the page of the sessions. */
interface SessionsOptions {
  sandbox: Sandbox;
  answers: AnswerMemory;
  clock: Clock;
}

/** `GET /_admin/sessions?q=&range=&page=`: the conversations that are kept; wakes nothing. */
export function showSessions({ sandbox, answers, clock }: SessionsOptions): Handler<AccessVariables> {
  return async function handleSessions(context) {
    const query = readQuery(context, z.extend(listingQuery(), flashSchema().shape));
    const visitor = await context.get("visitor")();
    const { facts, reuseAfter } = visitor;
    const { status, details } = facts;
    const ask = () => operate(sandbox, sessions.list, {});
    const asked = await askOrRecall(answers, {
      question: "sessions",
      status,
      reuseAfter,
      limitMs: LIMIT_MS,
      ask,
    });
    const { value, problem, asOf } = asked;
    const { retention } = details ?? {};
    const flash = readFlash(context);
    const view = { visitor, flash, query, status, list: value?.sessions, asOf, retention, problem };
    return htmlPage(context, sessionsPage({ ...view, now: clock() }));
  };
}

/** A conversation as it may be shown. */
interface SessionRow {
  /** `<platform>:<the platform's ids>` */
  conversation: string;
  messages: number;
  /** ISO 8601 */
  lastAt: string;
}

/** Content of the page of the sessions. */
interface SessionsView {
  visitor: Visitor;
  flash: Flash;
  query: ListingQuery;
  status: SandboxStatus;
  /** Newest first; `undefined` where the container never told. */
  list: readonly SessionRow[] | undefined;
  asOf: string | undefined;
  /** Messages that `sessions.retention` is going to remove. */
  retention: RetentionNotice | undefined;
  problem: Reason | undefined;
  now: number;
}

/** The page of `/_admin/sessions`. */
function sessionsPage(view: SessionsView): Markup {
  const { visitor, flash, query, status, list, asOf, retention, problem, now } = view;
  return adminFrame(
    { title: "Conversations", visitor, flash, asOf, waits: true },
    html`${stateLine(status, visitor.health.overall)} ${reasonBox(problem)} ${retentionNote(retention)}
    ${
      list === undefined
        ? html`<p class="soft">The conversations can be read once the container has run.</p>`
        : listPart(list, query, now)
    }`,
  );
}

function retentionNote(retention: RetentionNotice | undefined): Markup | "" {
  if (retention === undefined || retention.messages === 0) return "";
  const { messages, beginsAt } = retention;
  return html`<p role="note">
    By <code>sessions.retention</code> of the config ${messages} messages are going to be removed, from
    <time datetime="${beginsAt}">${beginsAt.slice(0, 16).replace("T", " ")} UTC</time> on. They stay in the
    backups that are there, for as long as those are kept.
  </p>`;
}

function listPart(list: readonly SessionRow[], query: ListingQuery, now: number): Markup {
  if (list.length === 0) return html`<p class="soft">Nobody has written yet.</p>`;
  const read = ({ conversation, lastAt }: SessionRow) => ({ text: conversation, at: Date.parse(lastAt) });
  const listing = pageOf(list, query, now, read);
  const path = ROUTES.sessionsPage.path;
  return html`${searchForm(path, query)}
  ${dataTable({ label: "Conversations", caption: html`Conversations: ${listing.count}. Message contents are not shown.`, columns: ["Chat", { number: "Messages" }, "Last activity"], rows: listing.rows.map((row) => sessionRow(row, now)) })}
  ${pageLinks(path, query, listing)}`;
}

function sessionRow({ conversation, messages, lastAt }: SessionRow, now: number): Markup {
  const [platform = "", ...ids] = conversation.split(":");
  return html`<tr>
    <th scope="row">
      <span class="soft">${platform}</span>
      <a href="${ROUTES.sessionPage.path}?${new URLSearchParams({ conversation })}"
        ><code>${ids.join(":")}</code></a
      >
    </th>
    <td class="number">${messages}</td>
    <td>${age(Date.parse(lastAt), now)}</td>
  </tr>`;
}
