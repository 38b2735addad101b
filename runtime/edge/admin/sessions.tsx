import type * as z from "zod/mini";
import type { RetentionNotice } from "../../contract/control.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Visitor } from "../access.ts";
import { sessions } from "../../operations/sessions.ts";
import { operate } from "../operate.ts";
import { adminPage } from "../ui/console.tsx";
import { ageColumn } from "../ui/time.tsx";
import { ContainerAnswer } from "../ui/state.tsx";
import type { Markup } from "../ui/document.tsx";
import { type ListingQuery, listingQuery, ListTable } from "../ui/listing.tsx";
import { readQuery } from "../form.ts";
import { namesOf } from "../ledger-routes.ts";
import { nameOf, type Names, personColumn, platformOf } from "../ui/person.tsx";
import { askOrRecall, LIMIT_MS } from "./answers.ts";
import type { AdminOptions, PageContext } from "./options.ts";

/** `GET /_admin/sessions?q=&range=&sort=&page=`: the stored conversations. Does not wake the container. */
export async function showSessions(context: PageContext, options: AdminOptions): Promise<Response> {
  const query = readQuery(context, listingQuery());
  const visitor = await context.get("visitor")();
  const answer = await knownSessions(options, visitor);
  const keys = (answer.value?.sessions ?? []).map(({ conversation }) => placeOf(conversation));
  const names = await namesOf(options.directory, keys);
  const content = (
    <ContainerAnswer
      visitor={visitor}
      answer={answer}
      unknown="The conversations can be read once the container has run."
      show={({ sessions: list }) => conversationsTable(list, names, query, options.clock())}
    >
      {retentionNote(visitor.facts.details?.retention)}
    </ContainerAnswer>
  );
  return adminPage(context, { title: "Conversations", asOf: answer.asOf, waits: true }, content);
}

/** Returns the container's list of conversations, or the last stored list if the container does not answer. */
export function knownSessions({ sandbox, answers }: AdminOptions, visitor: Visitor, limitMs = LIMIT_MS) {
  const ask = () => operate(sandbox, sessions.list, {});
  return askOrRecall(answers, visitor, "sessions", ask, { limitMs });
}

export type SessionRow = z.infer<ReturnType<typeof sessions.list.output>>["sessions"][number];

function retentionNote(retention: RetentionNotice | undefined): Markup | "" {
  if (retention === undefined || retention.messages === 0) return "";
  const { messages, beginsAt } = retention;
  return (
    <p role="note">
      As <code>sessions.retention</code> in the config requires, {messages} messages will be removed from{" "}
      <time datetime={beginsAt}>{beginsAt.slice(0, 16).replace("T", " ")} UTC</time> on. Existing backups
      still contain them.
    </p>
  );
}

/**
 * Returns the key of a conversation's chat or browser in the name directory. All conversations of a browser have the
 * same key.
 */
export function placeOf(conversation: string): string {
  return conversation.split(":", 2).join(":");
}

function conversationsTable(
  list: readonly SessionRow[],
  names: Names,
  query: ListingQuery,
  now: number,
): Markup {
  if (list.length === 0) return <p class="empty">Nobody has written yet.</p>;
  const person = ({ conversation, name }: SessionRow) => ({
    id: conversation,
    entry: names.get(placeOf(conversation)),
    otherwise: name,
    href: `${ROUTES.sessionPage.path}?${new URLSearchParams({ conversation })}`,
  });
  return (
    <ListTable<SessionRow>
      path={ROUTES.sessionsPage.path}
      query={query}
      now={now}
      rows={list}
      read={(row) => ({ text: `${nameOf(person(row))} ${row.conversation}`, at: Date.parse(row.lastAt) })}
      label="Conversations"
      caption={(count) => <>Conversations: {count}. Message contents are not shown.</>}
      columns={[
        personColumn("Chat", person),
        { head: "Platform", by: ({ conversation }) => platformOf(conversation) },
        { head: "Messages", kind: "number", by: ({ messages }) => messages },
        ageColumn("Last activity", now, ({ lastAt }) => Date.parse(lastAt)),
      ]}
    />
  );
}
