import * as z from "zod/mini";
import { StewardError } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import { readFields, readQuery } from "../form.ts";
import { namesIn } from "../ledger-routes.ts";
import type { LedgerAttempt, LedgerDetails, Timeline } from "../ports.ts";
import { adminPage } from "../ui/console.tsx";
import type { Markup } from "../ui/document.tsx";
import { Id, type Names } from "../ui/person.tsx";
import { Facts, Table } from "../ui/table.tsx";
import { Moment } from "../ui/time.tsx";
import { EVENT_KEY, Outcome, PlaceName, Remedies, SenderName } from "./ledger.tsx";
import type { AdminOptions, PageContext } from "./options.ts";

const STEPS = {
  received: "Received",
  recorded: "Recorded",
  started: "Container started",
  attempted: "Last attempt",
  firstWord: "First word",
  reply: "Reply",
  settled: "Finished",
} as const satisfies Record<keyof Timeline, string>;

// Built lazily to keep startup fast.
const eventQuery = () => z.strictObject({ key: z.string().check(z.regex(EVENT_KEY)) });

/** `GET /_admin/ledger/event?key=`: ids, timeline and attempts of an event. Does not wake the container. */
export async function showEvent(context: PageContext, options: AdminOptions): Promise<Response> {
  const { key } = readQuery(context, eventQuery());
  return eventPage(context, options, key);
}

/**
 * `POST /_admin/ledger/event`, field `key`: the event's page, including the text. The activity log records who read
 * the text.
 */
export async function showEventText(context: PageContext, options: AdminOptions): Promise<Response> {
  const { key } = await readFields(context.req.raw, { key: EVENT_KEY });
  const text = await options.ledger.excerpt(key);
  if (text !== undefined) await options.record(context.get("identity").name, "read", key);
  return eventPage(context, options, key, text ?? "This event has no text.");
}

/** @throws StewardError `ledger_entry_unknown` */
async function eventPage(
  context: PageContext,
  { ledger, directory }: AdminOptions,
  key: string,
  text?: string,
): Promise<Response> {
  const details = await ledger.details(key);
  if (details === undefined) throw new StewardError("ledger_entry_unknown", `No entry has the key ${key}.`);
  const names = await namesIn(directory, [details.entry]);
  return adminPage(
    context,
    { title: "Event" },
    <>
      <p class="up">
        <a href={ROUTES.ledgerPage.path}>All events</a>
      </p>
      <EventFacts details={details} names={names} />
      <Remedies entry={details.entry} names={names} />
      <h2>Text</h2>
      {text === undefined ? <TextForm id={key} /> : <blockquote dir="auto">{text}</blockquote>}
      <Course timeline={details.entry.timeline} />
      <Attempts attempts={details.attempts} />
    </>,
  );
}

function EventFacts({ details: { entry }, names }: { details: LedgerDetails; names: Names }): Markup {
  const { key, conversation, sender, place, attempts } = entry;
  const shown = (id: string | undefined) => id && <Id id={id} />;
  return (
    <Facts
      facts={[
        ["Outcome", <Outcome entry={entry} />],
        ["Person", sender === undefined ? undefined : <SenderName sender={sender} names={names} />],
        ["Place", <PlaceName entry={entry} names={names} />],
        ["Attempts", attempts],
        ["Event", shown(key)],
        ["Person’s id", shown(sender)],
        ["Place’s id", shown(place)],
        ["Conversation", shown(conversation)],
      ]}
    />
  );
}

function TextForm({ id }: { id: string }): Markup {
  return (
    <form method="post" action={ROUTES.ledgerEventText.path}>
      <input type="hidden" name="key" value={id} />
      <button type="submit">Show the text</button>
      <p class="soft">The first characters of the message. The activity log records that you read it.</p>
    </form>
  );
}

function Course({ timeline }: { timeline: Timeline | undefined }): Markup | null {
  if (timeline === undefined) return null;
  const received = Date.parse(timeline.received);
  const steps = Object.entries(STEPS).map(([step, title]) => {
    const at = timeline[step as keyof Timeline];
    const seconds = (Date.parse(at ?? "") - received) / 1_000;
    const shown = at && (
      <>
        <Moment at={at} /> {step !== "received" && <span class="soft">after {seconds.toFixed(1)} s</span>}
      </>
    );
    return [title, shown || undefined] as const;
  });
  return (
    <>
      <h2>Course</h2>
      <Facts facts={steps} />
    </>
  );
}

function Attempts({ attempts }: { attempts: readonly LedgerAttempt[] }): Markup | null {
  if (attempts.length === 0) return null;
  return (
    <>
      <h2>Attempts</h2>
      <Table<LedgerAttempt>
        label="Attempts"
        caption="The last ten, oldest first."
        rows={attempts}
        columns={[
          {
            head: "Begun",
            kind: "name",
            cell: ({ at }) => (at === undefined ? "unknown" : <Moment at={at} />),
          },
          { head: "Ended", cell: ({ endedAt }) => <Moment at={endedAt} /> },
          { head: "Outcome", cell: ({ note }) => note },
        ]}
      />
    </>
  );
}
