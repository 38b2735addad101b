import type { Context, Handler } from "hono";
import type * as z from "zod/mini";
import type { Reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables, Visitor } from "../access.ts";
import { readFields } from "../form.ts";
import type { Operation } from "../../operations/operation.ts";
import { schedules } from "../../operations/schedules.ts";
import { attempt, operate } from "../operate.ts";
import { adminPage, statusOf } from "../ui/console.tsx";
import { Moment } from "../ui/time.tsx";
import { AlertBox, ReasonBox, StateLine } from "../ui/state.tsx";
import type { Markup } from "../ui/document.tsx";
import { type Answer, askOrRecall, LIMIT_MS } from "./answers.ts";
import { changeAndGo, recordChange } from "./change.ts";
import {
  addForm,
  EMPTY,
  type Marks,
  marksOf,
  SCHEDULE_FORM,
  toldMarks,
  type Values,
  WRONG,
} from "./schedule-form.tsx";
import { type Done, goTo } from "./flash.ts";
import type { AdminOptions } from "./options.ts";
import { offerUndo } from "./undo.ts";
import { PlainTable } from "../ui/table.tsx";

const ID = /^[\w:.-]{1,128}$/;

type Row = z.infer<ReturnType<typeof schedules.list.output>>["schedules"][number];
type Run = z.infer<ReturnType<typeof schedules.history.output>>["runs"][number];

/** `GET /_admin/schedules`: what the bot sends at set times; wakes nothing. */
export function showSchedules(options: AdminOptions): Handler<AccessVariables> {
  return async function handleSchedules(context) {
    return page(context, options, {});
  };
}

/** `POST /_admin/schedules/add`: adds one, or shows the form again with what is wrong. */
export function addScheduleFrom(options: AdminOptions): Handler<AccessVariables> {
  return async function handleAddSchedule(context) {
    const values = (await readFields(context.req.raw, SCHEDULE_FORM)) as Values;
    const { platform, chat, kind, when, timezone, content, message } = values;
    const missing = marksOf(values);
    if (Object.keys(missing).length > 0)
      return page(context, options, { values, marks: missing, problem: WRONG });
    const asked = operate(options.sandbox, schedules.add, {
      to: `${platform}:${chat}`,
      [kind]: when,
      [content]: message,
      ...(kind === "cron" && timezone !== "" && { timezone }),
    });
    const { problem } = await attempt(LIMIT_MS, asked);
    if (problem !== undefined) {
      const marks = toldMarks(problem);
      const isTold = Object.keys(marks).length > 0;
      return page(context, options, { values, marks, problem: isTold ? WRONG : problem });
    }
    await recordChange(context, options, { action: "schedule", detail: `added for ${platform}:${chat}` });
    return goTo(context, ROUTES.schedulesPage, "scheduled");
  };
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
): Promise<Answer<{ schedules: Row[]; runs: Run[] }>> {
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

/** Form as it was sent, and what is wrong with it. */
interface Shown {
  values?: Values;
  marks?: Marks;
  problem?: Reason;
}

async function page(
  context: Context<AccessVariables>,
  options: AdminOptions,
  { values = EMPTY, marks = {}, problem }: Shown,
): Promise<Response> {
  const visitor = await context.get("visitor")();
  const { value, problem: missing, asOf } = await knownSchedules(options, visitor);
  const head = (
    <>
      <StateLine status={visitor.facts.status} overall={visitor.health.overall} />
      <ReasonBox reason={missing} />
    </>
  );
  const content = (
    <>
      {value === undefined ? head : rowsTable(value.schedules)}
      {value === undefined || value.runs.length === 0 ? "" : runsTable(value.runs)}
      <h2>Add a schedule</h2>
      <AlertBox reason={problem} /> {addForm(values, marks)}
    </>
  );
  const frame = { title: "Schedules", asOf, waits: problem === undefined };
  return adminPage(context, frame, content, statusOf(problem));
}

function rowsTable(rows: readonly Row[]): Markup {
  if (rows.length === 0) return <p class="soft">Nothing is scheduled.</p>;
  return (
    <PlainTable
      label="Schedules"
      columns={["Id", "When", "Next", "Chat", "Message", "Last run", "Action"]}
      rows={rows.map(scheduleRow)}
    />
  );
}

/** State of a run by colour. */
const RUN_TONES: Readonly<Record<string, string>> = { done: "ok", failed: "bad", missed: "warn" };

function runsTable(runs: readonly Run[]): Markup {
  return (
    <>
      <h2>History</h2>
      <PlainTable
        label="Runs"
        caption="Runs of the last seven days, newest first"
        columns={["Due", "Schedule", "State", "Outcome"]}
        rows={runs.map(({ schedule, dueAt, state, count, note }) => (
          <tr>
            <td>
              <Moment at={dueAt} />
            </td>
            <th scope="row">
              <code>{schedule}</code>
            </th>
            <td>
              <span class={`badge ${RUN_TONES[state] ?? "wait"}`}>{state}</span>
              {count > 1 ? ` ${count} times` : ""}
            </td>
            <td>{note}</td>
          </tr>
        ))}
      />
    </>
  );
}

function scheduleRow(row: Row): Markup {
  const { id, source, to, timezone = "UTC", text, prompt, nextAt, lastAt, lastOutcome } = row;
  const when = row.at ?? (row.every === undefined ? `${row.cron} ${timezone}` : `every ${row.every}`);
  return (
    <tr>
      <th scope="row">
        <code>{id}</code>
      </th>
      <td>{when}</td>
      <td>{nextAt === null ? <span class="soft">not due</span> : <Moment at={nextAt} />}</td>
      <td>{[to.platform, to.chat, to.thread].filter((part) => part !== undefined).join(":")}</td>
      <td>
        {text ?? (
          <>
            <span class="soft">asks:</span> {prompt}
          </>
        )}
      </td>
      <td>
        {lastAt === null ? (
          ""
        ) : (
          <>
            <Moment at={lastAt} /> {lastOutcome ?? ""}
          </>
        )}
      </td>
      <td>
        {source === "config" ? (
          <a href={ROUTES.configEdit.path}>in the config</a>
        ) : (
          <div class="actions">
            {nextAt === null
              ? changeForm(ROUTES.schedulesResume.path, id, "Resume")
              : changeForm(ROUTES.schedulesPause.path, id, "Pause")}
            {changeForm(ROUTES.schedulesRun.path, id, "Run now")}
            {changeForm(ROUTES.schedulesRemove.path, id, "Remove", "danger")}
          </div>
        )}
      </td>
    </tr>
  );
}

function changeForm(action: string, id: string, label: string, tone = ""): Markup {
  return (
    <form method="post" action={action}>
      <button name="id" value={id} class={tone} aria-label={`${label} ${id}`}>
        {label}
      </button>
    </form>
  );
}
