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
import { type ListingQuery, listingQuery, ListTable } from "../ui/listing.tsx";
import { readQuery } from "../form.ts";
import { namesOf } from "../ledger-routes.ts";
import type { NameEntry } from "../ports.ts";
import { Person, titleOf } from "../ui/person.tsx";
import { askOrRecall, LIMIT_MS } from "./answers.ts";
import type { AdminOptions } from "./options.ts";

/** `GET /_admin/sessions?q=&range=&sort=&page=`: the conversations that are kept; wakes nothing. */
export function showSessions(options: AdminOptions): Handler<AccessVariables> {
  return async function handleSessions(context) {
    const query = readQuery(context, listingQuery());
    const visitor = await context.get("visitor")();
    const { status, details } = visitor.facts;
    const { value, problem, asOf } = await knownSessions(options, visitor);
    const list = value?.sessions ?? [];
    const keys = list.map(({ conversation }) => placeOf(conversation));
    const names = await namesOf(options.directory, keys);
    const content = (
      <>
        <StateLine status={status} overall={visitor.health.overall} />
        <ReasonBox reason={problem} />
        {retentionNote(details?.retention)}
        {value === undefined ? (
          <p class="soft">The conversations can be read once the container has run.</p>
        ) : (
          <Conversations list={list} names={names} query={query} now={options.clock()} />
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

/** Returns the directory's key of a conversation's place: a browser may have several conversations. */
export function placeOf(conversation: string): string {
  return conversation.split(":", 2).join(":");
}

/** Properties of {@link Conversations}. */
interface ConversationsProps {
  list: readonly SessionRow[];
  names: ReadonlyMap<string, NameEntry>;
  query: ListingQuery;
  now: number;
}

function Conversations({ list, names, query, now }: ConversationsProps): Markup {
  if (list.length === 0) return <p class="empty">Nobody has written yet.</p>;
  const nameOf = ({ conversation, name = "" }: SessionRow) => names.get(placeOf(conversation))?.name ?? name;
  return (
    <ListTable
      path={ROUTES.sessionsPage.path}
      query={query}
      now={now}
      rows={list}
      read={(row) => ({ text: `${nameOf(row)} ${row.conversation}`, at: Date.parse(row.lastAt) })}
      label="Conversations"
      caption={(count) => <>Conversations: {count}. Message contents are not shown.</>}
      columns={[
        {
          head: "Chat",
          kind: "name",
          by: (row) => nameOf(row) || row.conversation,
          cell: (row) => (
            <Person
              id={row.conversation}
              entry={names.get(placeOf(row.conversation))}
              otherwise={row.name}
              href={`${ROUTES.sessionPage.path}?${new URLSearchParams({ conversation: row.conversation })}`}
            />
          ),
        },
        {
          head: "Platform",
          by: platformOf,
          cell: (row) => <span class="soft">{platformOf(row)}</span>,
        },
        {
          head: "Messages",
          kind: "number",
          by: ({ messages }) => messages,
          cell: ({ messages }) => messages,
        },
        {
          head: "Last activity",
          by: ({ lastAt }) => Date.parse(lastAt),
          cell: ({ lastAt }) => <Age at={Date.parse(lastAt)} now={now} />,
        },
      ]}
    />
  );
}

function platformOf({ conversation }: SessionRow): string {
  return titleOf(conversation.slice(0, conversation.indexOf(":")));
}
