import type { Handler } from "hono";
import type * as z from "zod/mini";
import type { RetentionNotice } from "../../contract/control.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables, Visitor } from "../access.ts";
import { sessions } from "../../operations/sessions.ts";
import { operate } from "../operate.ts";
import { adminPage } from "../ui/console.tsx";
import { Age } from "../ui/time.tsx";
import { ReasonBox, StateLine } from "../ui/state.tsx";
import type { Markup } from "../ui/document.tsx";
import { type ListingQuery, listingQuery, PageLinks, pageOf, SearchForm } from "../ui/listing.tsx";
import { readQuery } from "../form.ts";
import { askOrRecall, LIMIT_MS } from "./answers.ts";
import type { AdminOptions } from "./options.ts";
import { PlainTable } from "../ui/table.tsx";

/** `GET /_admin/sessions?q=&range=&page=`: the conversations that are kept; wakes nothing. */
export function showSessions(options: AdminOptions): Handler<AccessVariables> {
  return async function handleSessions(context) {
    const query = readQuery(context, listingQuery());
    const visitor = await context.get("visitor")();
    const { status, details } = visitor.facts;
    const { value, problem, asOf } = await knownSessions(options, visitor);
    const content = (
      <>
        <StateLine status={status} overall={visitor.health.overall} />
        <ReasonBox reason={problem} />
        {retentionNote(details?.retention)}
        {value === undefined ? (
          <p class="soft">The conversations can be read once the container has run.</p>
        ) : (
          listPart(value.sessions, query, options.clock())
        )}
      </>
    );
    return adminPage(context, { title: "Conversations", asOf, waits: true }, content);
  };
}

/** Returns the conversations, as of the last answer if the container gives none. */
export function knownSessions({ sandbox, answers }: AdminOptions, visitor: Visitor, limitMs = LIMIT_MS) {
  const ask = () => operate(sandbox, sessions.list, {});
  return askOrRecall(answers, visitor, "sessions", ask, { limitMs });
}

/** A conversation, as the list has it. */
export type SessionRow = z.infer<ReturnType<typeof sessions.list.output>>["sessions"][number];

function retentionNote(retention: RetentionNotice | undefined): Markup | "" {
  if (retention === undefined || retention.messages === 0) return "";
  const { messages, beginsAt } = retention;
  return (
    <p role="note">
      By <code>sessions.retention</code> of the config {messages} messages are going to be removed, from{" "}
      <time datetime={beginsAt}>{beginsAt.slice(0, 16).replace("T", " ")} UTC</time> on. They stay in the
      backups that are there, for as long as those are kept.
    </p>
  );
}

function listPart(list: readonly SessionRow[], query: ListingQuery, now: number): Markup {
  if (list.length === 0) return <p class="soft">Nobody has written yet.</p>;
  const read = ({ conversation, lastAt }: SessionRow) => ({ text: conversation, at: Date.parse(lastAt) });
  const listing = pageOf(list, query, now, read);
  const path = ROUTES.sessionsPage.path;
  return (
    <>
      <SearchForm path={path} query={query} />
      <PlainTable
        label="Conversations"
        caption={<>Conversations: {listing.count}. Message contents are not shown.</>}
        columns={["Chat", { number: "Messages" }, "Last activity"]}
        rows={listing.rows.map((row) => sessionRow(row, now))}
      />
      <PageLinks path={path} query={query} listing={listing} />
    </>
  );
}

function sessionRow({ conversation, messages, lastAt }: SessionRow, now: number): Markup {
  const [platform = "", ...ids] = conversation.split(":");
  return (
    <tr>
      <th scope="row">
        <span class="soft">{platform}</span>{" "}
        <a href={`${ROUTES.sessionPage.path}?${new URLSearchParams({ conversation })}`}>
          <code>{ids.join(":")}</code>
        </a>
      </th>
      <td class="number">{messages}</td>
      <td>
        <Age at={Date.parse(lastAt)} now={now} />
      </td>
    </tr>
  );
}
