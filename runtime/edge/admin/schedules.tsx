import type { Context } from "hono";
import type * as z from "zod/mini";
import { type Reason, StewardError } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Visitor } from "../access.ts";
import { readFields, readQuery } from "../form.ts";
import { namesOf } from "../ledger-routes.ts";
import type { Operation } from "../../operations/operation.ts";
import { schedules } from "../../operations/schedules.ts";
import { attempt, operate } from "../operate.ts";
import { adminPage, statusOf } from "../ui/console.tsx";
import type { Markup } from "../ui/document.tsx";
import { type ListingQuery, listingQuery } from "../ui/listing.tsx";
import { AlertBox, GatewayState } from "../ui/state.tsx";
import { type Answer, askOrRecall, LIMIT_MS } from "./answers.ts";
import { finishChange, recordChange } from "./change.ts";
import { type Done, goTo } from "./flash.ts";
import type { AdminOptions, PageContext } from "./options.ts";
import { offerUndo } from "./undo.ts";
import {
  chatText,
  EMPTY,
  type Marks,
  marksOf,
  optionsOf,
  type RunRow,
  SCHEDULE_FORM,
  ScheduleForm,
  type ScheduleRow,
  timesOf,
  toldMarks,
  type Values,
  valuesOf,
  WRONG,
} from "./schedule-form.tsx";
import { addressOf, inOrder, Runs, schedulesTable } from "./schedule-table.tsx";

const ID = /^[\w:.-]{1,128}$/;
/** Maximum number of recently seen chats to suggest in the form. */
const MAX_CHATS = 300;

type Preview = z.infer<ReturnType<typeof schedules.preview.output>>;

/** `GET /_admin/schedules`: the scheduled messages. Does not wake the container. */
export async function showSchedules(context: PageContext, options: AdminOptions): Promise<Response> {
  return page(context, options, { query: readQuery(context, listingQuery()) });
}

/** `GET /_admin/schedules/edit?id=`: the form for a schedule. Does not wake the container. */
export async function editSchedule(context: PageContext, options: AdminOptions): Promise<Response> {
  return page(context, options, { id: idOf(context) });
}

/**
 * `POST /_admin/schedules/add`, `…/edit?id=` and `…/preview`: saves the form, or shows it again with a preview or
 * errors.
 */
export async function saveSchedule(
  context: PageContext,
  options: AdminOptions,
  verb: "add" | "edit" | "preview",
): Promise<Response> {
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
}

function idOf(context: Context): string {
  const id = context.req.query("id") ?? "";
  if (!ID.test(id)) throw new StewardError("form_invalid");
  return id;
}

const CHANGES = {
  pause: "paused",
  resume: "resumed",
  run: "runs",
  remove: "unscheduled",
} as const satisfies Record<string, Done>;

/**
 * `POST /_admin/schedules/pause`, `…/resume`, `…/run` and `…/remove`, field `id`: performs the action on a schedule.
 */
export async function changeSchedule(
  context: PageContext,
  options: AdminOptions,
  verb: keyof typeof CHANGES,
): Promise<Response> {
  const { id } = await readFields(context.req.raw, { id: ID });
  const changed: Operation<{ id: string }, unknown> = schedules[verb];
  const [done, detail] = [CHANGES[verb], `${verb} ${id}`];
  return finishChange(context, options, operate(options.sandbox, changed, { id }), {
    action: "schedule",
    detail,
    page: ROUTES.schedulesPage,
    done,
    onMade: (result) => offerUndo(context, options, done, [{ detail, result }]),
  });
}

/** Returns the schedules and runs, from the container's current or last answer. */
export function knownSchedules(
  { sandbox, answers }: AdminOptions,
  visitor: Visitor,
  limitMs = LIMIT_MS,
): Promise<Answer<{ schedules: ScheduleRow[]; runs: RunRow[] }>> {
  const ask = async () => {
    const [list, history] = await Promise.all([
      operate(sandbox, schedules.list, {}),
      // The list is useful even without the history.
      attempt(limitMs, operate(sandbox, schedules.history, {})),
    ]);
    return { schedules: list.schedules, runs: history.value?.runs ?? [] };
  };
  return askOrRecall(answers, visitor, "schedules", ask, { limitMs });
}

interface Shown {
  query?: ListingQuery;
  id?: string | undefined;
  values?: Values;
  marks?: Marks;
  problem?: Reason;
  preview?: Preview | undefined;
}

async function page(
  context: PageContext,
  options: AdminOptions,
  { query = { q: "", page: 1 }, id, values, marks = {}, problem, preview }: Shown,
): Promise<Response> {
  const { directory } = options;
  const visitor = await context.get("visitor")();
  const [known, chats] = await Promise.all([
    knownSchedules(options, visitor),
    directory.entries({ isChat: true, limit: MAX_CHATS }).catch(() => ({ entries: [] })),
  ]);
  const { value: { schedules: rows, runs } = { schedules: [], runs: [] }, asOf } = known;
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
  // Do not reload this page automatically: the form's result would be lost.
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
      {known.value === undefined && <GatewayState visitor={visitor} reason={known.problem} />}
      {rows.length > 0 && schedulesTable(inOrder(rows), names, query, options.clock())}
      {known.value !== undefined && rows.length === 0 && <p class="empty">Nothing is scheduled.</p>}
      {!isAnswer && add}
      {runs.length > 0 && <Runs runs={runs} rows={rows} />}
    </>
  );
  return adminPage(context, { ...frame, title: "Schedules" }, content, statusOf(problem));
}

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
