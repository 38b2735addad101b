import type { Context, Handler } from "hono";
import type * as z from "zod/mini";
import { type Reason, StewardError } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables, Visitor } from "../access.ts";
import { readFields, readQuery } from "../form.ts";
import { namesOf } from "../ledger-routes.ts";
import type { Operation } from "../../operations/operation.ts";
import { schedules } from "../../operations/schedules.ts";
import { attempt, operate } from "../operate.ts";
import { adminPage, statusOf } from "../ui/console.tsx";
import type { Markup } from "../ui/document.tsx";
import { type ListingQuery, listingQuery, ListTable } from "../ui/listing.tsx";
import { nameOf, type Names, Person } from "../ui/person.tsx";
import { AlertBox, ReasonBox, StateLine } from "../ui/state.tsx";
import { Table } from "../ui/table.tsx";
import { Age, Moment } from "../ui/time.tsx";
import { type Answer, askOrRecall, LIMIT_MS } from "./answers.ts";
import { changeAndGo, recordChange } from "./change.ts";
import { type Done, goTo } from "./flash.ts";
import type { AdminOptions } from "./options.ts";
import { offerUndo } from "./undo.ts";
import {
  chatText,
  EMPTY,
  type Marks,
  marksOf,
  optionsOf,
  SCHEDULE_FORM,
  ScheduleForm,
  type ScheduleRow,
  timesOf,
  toldMarks,
  type Values,
  valuesOf,
  WRONG,
} from "./schedule-form.tsx";

const ID = /^[\w:.-]{1,128}$/;
/** Chats that the form offers, the last seen first. */
const MOST_CHATS = 300;
const LONGEST_EXCERPT = 100;
/** Schedules of a page. */
const ROWS = 15;

type Run = z.infer<ReturnType<typeof schedules.history.output>>["runs"][number];
type Preview = z.infer<ReturnType<typeof schedules.preview.output>>;

/** `GET /_admin/schedules`: what the bot sends at set times; wakes nothing. */
export function showSchedules(options: AdminOptions): Handler<AccessVariables> {
  return async function handleSchedules(context) {
    return page(context, options, { query: readQuery(context, listingQuery()) });
  };
}

/** `GET /_admin/schedules/edit?id=`: the form with the values of a schedule; wakes nothing. */
export function editSchedule(options: AdminOptions): Handler<AccessVariables> {
  return async function handleEditSchedule(context) {
    return page(context, options, { id: idOf(context) });
  };
}

/**
 * `POST /_admin/schedules/add`, `…/edit?id=` and `…/preview`: saves the form, or shows it again with its next runs or
 * with what is wrong.
 */
export function saveSchedule(
  verb: "add" | "edit" | "preview",
  options: AdminOptions,
): Handler<AccessVariables> {
  return async function handleSaveSchedule(context) {
    const id = context.req.query("id") === undefined ? undefined : idOf(context);
    const values = (await readFields(context.req.raw, SCHEDULE_FORM)) as Values;
    const marks = marksOf(values);
    if (Object.keys(marks).length > 0) return page(context, options, { id, values, marks, problem: WRONG });
    const { to, ...rest } = optionsOf(values);
    const { value: preview, problem } = await attempt<Preview | object>(
      LIMIT_MS,
      verb === "preview"
        ? operate(options.sandbox, schedules.preview, timesOf(values))
        : verb === "add"
          ? operate(options.sandbox, schedules.add, { to, ...rest })
          : operate(options.sandbox, schedules.edit, { id: idOf(context), to, ...rest }),
    );
    if (problem !== undefined) {
      const told = toldMarks(problem);
      const isTold = Object.keys(told).length > 0;
      return page(context, options, { id, values, marks: told, problem: isTold ? WRONG : problem });
    }
    if (verb === "preview") return page(context, options, { id, values, preview });
    const detail = verb === "add" ? `added for ${to}` : `edited ${id}`;
    await recordChange(context, options, { action: "schedule", detail });
    return goTo(context, ROUTES.schedulesPage, verb === "add" ? "scheduled" : "rescheduled");
  };
}

/** @throws StewardError `form_invalid` */
function idOf(context: Context): string {
  const id = context.req.query("id") ?? "";
  if (!ID.test(id)) throw new StewardError("form_invalid");
  return id;
}

/** Changes of a schedule by its id, and what the page after them says. */
const CHANGES = {
  pause: "paused",
  resume: "resumed",
  run: "runs",
  remove: "unscheduled",
} as const satisfies Record<string, Done>;

/** `POST /_admin/schedules/pause`, `…/resume`, `…/run` and `…/remove`, field `id`. */
export function changeSchedule(verb: keyof typeof CHANGES, options: AdminOptions): Handler<AccessVariables> {
  return async function handleChangeSchedule(context) {
    const { id } = await readFields(context.req.raw, { id: ID });
    const changed: Operation<{ id: string }, unknown> = schedules[verb];
    const [done, detail] = [CHANGES[verb], `${verb} ${id}`];
    return changeAndGo(context, options, operate(options.sandbox, changed, { id }), {
      action: "schedule",
      detail,
      page: ROUTES.schedulesPage,
      done,
      onMade: (result) => offerUndo(context, options, done, [{ detail, result }]),
    });
  };
}

/** Returns the schedules and their last runs, as of the last answer if the container gives none. */
export function knownSchedules(
  { sandbox, answers }: AdminOptions,
  visitor: Visitor,
  limitMs = LIMIT_MS,
): Promise<Answer<{ schedules: ScheduleRow[]; runs: Run[] }>> {
  const ask = async () => {
    const [list, history] = await Promise.all([
      operate(sandbox, schedules.list, {}),
      // The list is worth showing without it.
      attempt(limitMs, operate(sandbox, schedules.history, {})),
    ]);
    return { schedules: list.schedules, runs: history.value?.runs ?? [] };
  };
  return askOrRecall(answers, visitor, "schedules", ask, { limitMs });
}

/** Parts of the page that depend on the form. */
interface Shown {
  /** Page of the list. */
  query?: ListingQuery;
  /** The schedule that is edited. */
  id?: string | undefined;
  /** The form as it was sent, what is wrong with it, and the times that it stands for. */
  values?: Values;
  marks?: Marks;
  problem?: Reason;
  preview?: Preview | undefined;
}

async function page(
  context: Context<AccessVariables>,
  options: AdminOptions,
  { query = { q: "", page: 1 }, id, values, marks = {}, problem, preview }: Shown,
): Promise<Response> {
  const { directory } = options;
  const visitor = await context.get("visitor")();
  const [known, chats] = await Promise.all([
    knownSchedules(options, visitor),
    directory.entries({ isChat: true, limit: MOST_CHATS }).catch(() => ({ entries: [] })),
  ]);
  const { value: { schedules: rows, runs } = { schedules: [], runs: [] }, asOf } = known;
  const inOrder = rows.toSorted((a, b) => ((a.nextAt ?? "~") < (b.nextAt ?? "~") ? -1 : 1));
  const edited = rows.find((one) => one.id === id);
  if (id !== undefined && edited === undefined) throw new StewardError("schedule_unknown");
  const names = await namesOf(directory, rows.map(addressOf));
  const shown =
    values ?? (edited && valuesOf(edited, chatText(addressOf(edited), names.get(addressOf(edited)))));
  const form = (
    <>
      <AlertBox reason={problem} />
      {preview && <PreviewBox {...preview} />}
      <ScheduleForm
        values={shown ?? EMPTY}
        marks={marks}
        chats={chats.entries.map((entry) => chatText(entry.key, entry))}
        id={id}
      />
    </>
  );
  // Putting the page in place again would drop what the form was answered.
  const isAnswer = values !== undefined;
  const frame = { asOf, waits: !isAnswer };
  if (edited !== undefined) {
    const own = runs.filter(({ schedule }) => schedule === id);
    const content = (
      <>
        {form}
        {own.length > 0 && <Runs runs={own} rows={rows} />}
      </>
    );
    return adminPage(context, { ...frame, title: "Edit schedule" }, content, statusOf(problem));
  }
  const add = (
    <section class="card">
      <h2 id="add">Add a schedule</h2>
      {form}
    </section>
  );
  const content = (
    <>
      {isAnswer && add}
      {known.value === undefined && (
        <>
          <StateLine status={visitor.facts.status} overall={visitor.health.overall} />
          <ReasonBox reason={known.problem} />
        </>
      )}
      {rows.length > 0 && <Scheduled rows={inOrder} names={names} query={query} now={options.clock()} />}
      {known.value !== undefined && rows.length === 0 && <p class="empty">Nothing is scheduled.</p>}
      {!isAnswer && add}
      {runs.length > 0 && <Runs runs={runs} rows={rows} />}
    </>
  );
  return adminPage(context, { ...frame, title: "Schedules" }, content, statusOf(problem));
}

/** The times of a form that is not saved yet. */
function PreviewBox({ words = "", next = [] }: Preview): Markup {
  return (
    <aside class="done" role="status">
      <p>
        <strong>{words}</strong>. Not saved yet. Next runs:
      </p>
      <ul>
        {next.map(({ at, local }) => (
          <li>
            <time datetime={at}>{local}</time>
          </li>
        ))}
      </ul>
    </aside>
  );
}

/** Returns the key of a schedule's chat in the directory. */
function addressOf({ to }: Pick<ScheduleRow, "to">): string {
  return `${to.platform}:${to.chat}`;
}

/** Returns what people call a schedule: the beginning of its message. */
function excerpt({ text, prompt = "" }: ScheduleRow): string {
  const line = (text ?? prompt).replace(/\s+/g, " ").trim();
  return line.length > LONGEST_EXCERPT ? `${line.slice(0, LONGEST_EXCERPT - 1).toWellFormed()}…` : line;
}

/** The time of a schedule in words, with its expression; an older container has no words. */
function Times({ row: { at, every, cron, timezone = "UTC", words } }: { row: ScheduleRow }): Markup {
  if (cron === undefined) return <>{words ?? (at === undefined ? `Every ${every}` : "Once")}</>;
  return (
    <span title={`${cron} ${timezone}`}>
      {words ?? cron}
      {timezone !== "UTC" && <span class="soft"> {timezone}</span>}
    </span>
  );
}

/** A time as the clocks of the schedule's time zone show it. */
function Local({ at, local }: { at: string; local: string }): Markup {
  return (
    <time datetime={at} title={`${at.slice(0, 19).replace("T", " ")} UTC`}>
      {local}
    </time>
  );
}

/** Properties of {@link Scheduled}. */
interface ScheduledProps {
  rows: readonly ScheduleRow[];
  names: Names;
  query: ListingQuery;
  now: number;
}

function Scheduled({ rows, names, query, now }: ScheduledProps): Markup {
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
                <Age at={Date.parse(lastAt)} now={now} />
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

/** A run that sent its message says so in the gateway's own word. */
function outcomeText(note: string | null): string | null {
  return note === "said" ? "sent" : note;
}

function nextRuns({ nextAt, next = [] }: ScheduleRow): Markup {
  if (nextAt === null) return <span class="badge">not due</span>;
  const [first, ...later] = next;
  if (first === undefined) return <Moment at={nextAt} />;
  return (
    <>
      <Local {...first} />
      {later.map((one) => (
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
    <form method="post" action={action}>
      <button name="id" value={id} class={tone} aria-label={`${label} ${id}`}>
        {label}
      </button>
    </form>
  );
}

/** State of a run by colour. */
const RUN_TONES: Readonly<Record<string, string>> = { done: "ok", failed: "bad", missed: "warn" };

function Runs({ runs, rows }: { runs: readonly Run[]; rows: readonly ScheduleRow[] }): Markup {
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
                <bdi>{names.get(schedule) ?? <span class="soft">A schedule that is over</span>}</bdi>
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
