import type { Context, Handler } from "hono";
import { html } from "hono/html";
import type * as z from "zod/mini";
import type { SandboxStatus } from "../../contract/control.ts";
import { ERRORS, type Reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Log } from "../../shared/log.ts";
import type { AccessVariables, Visitor } from "../access.ts";
import { readFields } from "../form.ts";
import type { Operation } from "../../operations/operation.ts";
import { schedules } from "../../operations/schedules.ts";
import { attempt, operate } from "../operate.ts";
import { adminFrame, htmlPage } from "../pages/admin-frame.ts";
import { moment } from "../pages/age.ts";
import { reasonBox, stateLine } from "../pages/home.ts";
import type { Markup } from "../pages/layout.ts";
import type { AnswerMemory, RecordChange, Sandbox } from "../ports.ts";
import { askOrRecall } from "./answers.ts";
import {
  addForm,
  EMPTY,
  type Marks,
  marksOf,
  SCHEDULE_FORM,
  toldMarks,
  type Values,
  WRONG,
} from "./schedule-form.ts";
import { type Done, type Flash, flashQuery, readFlash } from "./flash.ts";
import { dataTable } from "../pages/table.ts";

const LIMIT_MS = 10_000;
const ID = /^[\w:.-]{1,128}$/;

type Row = z.infer<ReturnType<typeof schedules.list.output>>["schedules"][number];
type Run = z.infer<ReturnType<typeof schedules.history.output>>["runs"][number];

/** Dependencies of the page of the schedules. */
interface SchedulePages {
  sandbox: Sandbox;
  answers: AnswerMemory;
  log: Log;
  record: RecordChange;
}

/** `GET /_admin/schedules`: what the bot sends at set times; wakes nothing. */
export function showSchedules(pages: SchedulePages): Handler<AccessVariables> {
  return async function handleSchedules(context) {
    return page(context, pages, { flash: readFlash(context) });
  };
}

/** `POST /_admin/schedules/add`: adds one, or shows the form again with what is wrong. */
export function addScheduleFrom(pages: SchedulePages): Handler<AccessVariables> {
  const { sandbox, log, record } = pages;
  return async function handleAddSchedule(context) {
    const values = (await readFields(context.req.raw, SCHEDULE_FORM)) as Values;
    const { platform, chat, kind, when, timezone, content, message } = values;
    const by = context.get("identity").name;
    const missing = marksOf(values);
    if (Object.keys(missing).length > 0)
      return page(context, pages, { values, marks: missing, problem: WRONG });
    const asked = operate(sandbox, schedules.add, {
      to: `${platform}:${chat}`,
      [kind]: when,
      [content]: message,
      ...(kind === "cron" && timezone !== "" && { timezone }),
    });
    const { problem } = await attempt(LIMIT_MS, asked);
    if (problem !== undefined) {
      const marks = toldMarks(problem);
      const isTold = Object.keys(marks).length > 0;
      return page(context, pages, { values, marks, problem: isTold ? WRONG : problem });
    }
    log.info("operator adds a schedule", { by });
    await record(by, "schedule", `added for ${platform}:${chat}`);
    return context.redirect(`${ROUTES.schedulesPage.path}${flashQuery("scheduled")}`, 303);
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
export function changeSchedule(
  verb: keyof typeof CHANGES,
  { sandbox, log, record }: SchedulePages,
): Handler<AccessVariables> {
  return async function handleChangeSchedule(context) {
    const { id } = await readFields(context.req.raw, { id: ID });
    const by = context.get("identity").name;
    const changed: Operation<{ id: string }, unknown> = schedules[verb];
    const { problem } = await attempt(LIMIT_MS, operate(sandbox, changed, { id }));
    if (problem === undefined) {
      log.info("operator changes a schedule", { by, verb, id });
      await record(by, "schedule", `${verb} ${id}`);
    }
    return context.redirect(`${ROUTES.schedulesPage.path}${flashQuery(CHANGES[verb], problem?.code)}`, 303);
  };
}

/** Parts of the page that differ from a first look. */
interface Shown {
  flash?: Flash;
  values?: Values;
  marks?: Marks;
  problem?: Reason;
}

async function page(
  context: Context<AccessVariables>,
  { sandbox, answers }: SchedulePages,
  { flash = {}, values = EMPTY, marks = {}, problem }: Shown,
): Promise<Response> {
  const visitor = await context.get("visitor")();
  const { facts, reuseAfter } = visitor;
  const { status } = facts;
  const ask = async () => {
    const [list, history] = await Promise.all([
      operate(sandbox, schedules.list, {}),
      // The list is worth showing without it.
      attempt(LIMIT_MS, operate(sandbox, schedules.history, {})),
    ]);
    return { schedules: list.schedules, runs: history.value?.runs ?? [] };
  };
  const list = await askOrRecall(answers, {
    question: "schedules",
    status,
    reuseAfter,
    limitMs: LIMIT_MS,
    ask,
  });
  const view = {
    visitor,
    flash,
    status,
    rows: list.value?.schedules,
    runs: list.value?.runs ?? [],
    missing: list.problem,
    asOf: list.asOf,
    values,
    marks,
    problem,
  };
  return htmlPage(context, schedulesPage(view), problem === undefined ? 200 : ERRORS[problem.code].status);
}

/** Content of the page of the schedules. */
interface SchedulesView {
  visitor: Visitor;
  flash: Flash;
  status: SandboxStatus;
  /** `undefined` where the container never told. */
  rows: readonly Row[] | undefined;
  /** Runs of the last days, newest first. */
  runs: readonly Run[];
  /** Why there are no rows. */
  missing: Reason | undefined;
  asOf: string | undefined;
  values: Values;
  marks: Marks;
  /** Problem of the form. */
  problem: Reason | undefined;
}

function schedulesPage({
  visitor,
  flash,
  status,
  rows,
  runs,
  missing,
  asOf,
  values,
  marks,
  problem,
}: SchedulesView): Markup {
  return adminFrame(
    { title: "Schedules", visitor, flash, asOf, waits: problem === undefined },
    html`${rows === undefined ? html`${stateLine(status, visitor.health.overall)} ${reasonBox(missing)}` : rowsTable(rows)}
      ${runs.length === 0 ? "" : runsTable(runs)}
      <h2>Add a schedule</h2>
      ${problem === undefined ? "" : html`<div role="alert">${reasonBox(problem)}</div>`}
      ${addForm(values, marks)}`,
  );
}

function rowsTable(rows: readonly Row[]): Markup {
  if (rows.length === 0) return html`<p class="soft">Nothing is scheduled.</p>`;
  return dataTable({
    label: "Schedules",
    columns: ["Id", "When", "Next", "Chat", "Message", "Last run", "Action"],
    rows: rows.map(scheduleRow),
  });
}

/** State of a run by colour. */
const RUN_TONES: Readonly<Record<string, string>> = { done: "ok", failed: "bad", missed: "warn" };

function runsTable(runs: readonly Run[]): Markup {
  return html`<h2>History</h2>
    ${dataTable({
      label: "Runs",
      caption: "Runs of the last seven days, newest first",
      columns: ["Due", "Schedule", "State", "Outcome"],
      rows: runs.map(
        ({ schedule, dueAt, state, count, note }) =>
          html`<tr>
            <td>${moment(dueAt)}</td>
            <th scope="row"><code>${schedule}</code></th>
            <td>
              <span class="badge ${RUN_TONES[state] ?? "wait"}">${state}</span
              >${count > 1 ? ` ${count} times` : ""}
            </td>
            <td>${note}</td>
          </tr>`,
      ),
    })}`;
}

function scheduleRow(row: Row): Markup {
  const {
    id,
    source,
    to,
    at,
    every,
    cron,
    timezone = "UTC",
    text,
    prompt,
    nextAt,
    lastAt,
    lastOutcome,
  } = row;
  const when = at ?? (every === undefined ? `${cron} ${timezone}` : `every ${every}`);
  return html`<tr>
    <th scope="row"><code>${id}</code></th>
    <td>${when}</td>
    <td>${nextAt === null ? html`<span class="soft">not due</span>` : moment(nextAt)}</td>
    <td>${[to.platform, to.chat, to.thread].filter((part) => part !== undefined).join(":")}</td>
    <td>${text ?? html`<span class="soft">asks:</span> ${prompt}`}</td>
    <td>${lastAt === null ? "" : html`${moment(lastAt)} ${lastOutcome ?? ""}`}</td>
    <td>
      ${
        source === "config"
          ? html`<a href="${ROUTES.configEdit.path}">in the config</a>`
          : html`<div class="actions">
              ${
                nextAt === null
                  ? changeForm(ROUTES.schedulesResume.path, id, "Resume")
                  : changeForm(ROUTES.schedulesPause.path, id, "Pause")
              }
              ${changeForm(ROUTES.schedulesRun.path, id, "Run now")}
              ${changeForm(ROUTES.schedulesRemove.path, id, "Remove", "danger")}
            </div>`
      }
    </td>
  </tr>`;
}

function changeForm(action: string, id: string, label: string, tone = ""): Markup {
  return html`<form method="post" action="${action}">
    <button name="id" value="${id}" class="${tone}" aria-label="${label} ${id}">${label}</button>
  </form>`;
}
