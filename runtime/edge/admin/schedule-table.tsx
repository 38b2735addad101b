import { ROUTES } from "../../contract/routes.ts";
import type { Markup } from "../ui/document.tsx";
import { ActionButton } from "../ui/form.tsx";
import { type ListingQuery, ListTable } from "../ui/listing.tsx";
import { nameOf, type Names, Person } from "../ui/person.tsx";
import { Table } from "../ui/table.tsx";
import { Age, Moment } from "../ui/time.tsx";
import type { RunRow, ScheduleRow } from "./schedule-form.tsx";

const LONGEST_EXCERPT = 100;
const ROWS = 15;

/** Sorts schedules by next run. Schedules without a next run come last. */
export function inOrder(rows: readonly ScheduleRow[]): ScheduleRow[] {
  return rows.toSorted((a, b) => ((a.nextAt ?? "~") < (b.nextAt ?? "~") ? -1 : 1));
}

export function addressOf({ to }: Pick<ScheduleRow, "to">): string {
  return `${to.platform}:${to.chat}`;
}

export function excerpt({ text, prompt = "" }: ScheduleRow): string {
  const line = (text ?? prompt).replace(/\s+/g, " ").trim();
  return line.length > LONGEST_EXCERPT ? `${line.slice(0, LONGEST_EXCERPT - 1).toWellFormed()}…` : line;
}

/** Renders a schedule's time in words, or as an expression if an older container supplies no words. */
export function Times({ row: { at, every, cron, timezone = "UTC", words } }: { row: ScheduleRow }): Markup {
  if (cron === undefined) return <>{words ?? (at === undefined ? `Every ${every}` : "Once")}</>;
  return (
    <span title={`${cron} ${timezone}`}>
      {words ?? cron}
      {timezone !== "UTC" && <span class="soft"> {timezone}</span>}
    </span>
  );
}

function Local({ at, local }: { at: string; local: string }): Markup {
  return (
    <time datetime={at} title={`${at.slice(0, 19).replace("T", " ")} UTC`}>
      {local}
    </time>
  );
}

export function schedulesTable(
  rows: readonly ScheduleRow[],
  names: Names,
  query: ListingQuery,
  now: number,
): Markup {
  const chatOf = (row: ScheduleRow) => nameOf({ id: addressOf(row), entry: names.get(addressOf(row)) });
  return (
    <ListTable
      path={ROUTES.schedulesPage.path}
      query={query}
      now={now}
      read={(row) => ({ text: `${excerpt(row)} ${chatOf(row)}`, at: now })}
      most={ROWS}
      label="Schedules"
      columns={[
        {
          head: "Message",
          kind: "name",
          by: excerpt,
          cell: (row) => (
            <div class="wide" title={row.id}>
              {row.text === undefined && <span class="soft">Asks the agent: </span>}
              <bdi>{excerpt(row)}</bdi>
              <br />
              <Person id={addressOf(row)} entry={names.get(addressOf(row))} />
            </div>
          ),
        },
        { head: "When", cell: (row) => <Times row={row} /> },
        { head: "Next runs", by: ({ nextAt }) => nextAt ?? "~", cell: nextRuns },
        {
          head: "Last run",
          by: ({ lastAt }) => Date.parse(lastAt ?? "") || 0,
          cell: ({ lastAt, lastOutcome }) =>
            lastAt !== null && (
              <>
                <Age at={lastAt} now={now} />
                <span class="soft later">{outcomeText(lastOutcome)}</span>
              </>
            ),
        },
        { head: "Actions", kind: "action", cell: actions },
      ]}
      rows={rows}
    />
  );
}

/** Returns an outcome in words. The gateway's `said` means that the message was sent. */
function outcomeText(note: string | null): string | null {
  return note === "said" ? "sent" : note;
}

/** Renders the next run in the schedule's time zone, or in UTC if an older container supplies no local time. */
export function NextRun({ row: { nextAt, next: [first] = [] } }: { row: ScheduleRow }): Markup {
  if (first !== undefined) return <Local {...first} />;
  return nextAt === null ? <span class="badge">not due</span> : <Moment at={nextAt} />;
}

function nextRuns(row: ScheduleRow): Markup {
  return (
    <>
      <NextRun row={row} />
      {row.next?.slice(1).map((one) => (
        <span class="soft later">
          <Local {...one} />
        </span>
      ))}
    </>
  );
}

function actions({ id, source, nextAt }: ScheduleRow): Markup {
  if (source === "config") return <a href={ROUTES.configEdit.path}>in the config</a>;
  return (
    <div class="actions">
      <a
        class="button quiet"
        href={`${ROUTES.schedulesEdit.path}?${new URLSearchParams({ id })}`}
        aria-label={`Edit ${id}`}
      >
        Edit
      </a>
      {nextAt === null
        ? changeForm(ROUTES.schedulesResume.path, id, "Resume")
        : changeForm(ROUTES.schedulesPause.path, id, "Pause")}
      {changeForm(ROUTES.schedulesRun.path, id, "Run now")}
      {changeForm(ROUTES.schedulesRemove.path, id, "Remove", "quiet danger")}
    </div>
  );
}

function changeForm(action: string, id: string, label: string, tone = "quiet"): Markup {
  return (
    <ActionButton action={action} value={["id", id]} tone={tone} label={`${label} ${id}`}>
      {label}
    </ActionButton>
  );
}

const RUN_TONES: Readonly<Record<string, string>> = { done: "ok", failed: "bad", missed: "warn" };

export function Runs({ runs, rows }: { runs: readonly RunRow[]; rows: readonly ScheduleRow[] }): Markup {
  const names = new Map(rows.map((row) => [row.id, excerpt(row)]));
  return (
    <>
      <h2>History</h2>
      <Table
        label="Runs"
        caption="Runs of the last seven days, newest first"
        columns={[
          { head: "Due", cell: ({ dueAt }) => <Moment at={dueAt} /> },
          {
            head: "Schedule",
            kind: "name",
            cell: ({ schedule }) => (
              <span title={schedule}>
                <bdi>{names.get(schedule) ?? <span class="soft">A finished schedule</span>}</bdi>
              </span>
            ),
          },
          {
            head: "State",
            cell: ({ state, count }) => (
              <>
                <span class={`badge ${RUN_TONES[state] ?? "wait"}`}>{state}</span>
                {count > 1 ? ` ${count} times` : ""}
              </>
            ),
          },
          { head: "Outcome", cell: ({ note }) => outcomeText(note) },
        ]}
        rows={runs}
      />
    </>
  );
}
