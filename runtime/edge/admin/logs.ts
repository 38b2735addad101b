import type { Handler } from "hono";
import { html } from "hono/html";
import * as z from "zod/mini";
import type { LogTail, SandboxStatus } from "../../contract/control.ts";
import type { Reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables, Visitor } from "../access.ts";
import { lastLines } from "../debug-routes.ts";
import { adminFrame, htmlPage } from "../pages/admin-frame.ts";
import { reasonBox, stateLine } from "../pages/home.ts";
import type { Markup } from "../pages/layout.ts";
import { LOGS_SCRIPT } from "../pages/scripts.ts";
import { readableLine } from "../../shared/log.ts";
import type { Sandbox } from "../ports.ts";
import { readQuery } from "../form.ts";
import { attempt } from "../operate.ts";

/** Seconds after which a page that follows loads again. */
const FOLLOW_SECONDS = 5;

const LIMIT_MS = 10_000;
const LINES = 200;
const logsQuery = () => z.strictObject({ follow: z.optional(z.literal("1")) });

/** `GET /_admin/logs?follow=1`: the end of the gateway's output, redacted; wakes nothing. */
export function showLogs(sandbox: Sandbox): Handler<AccessVariables> {
  return async function handleLogsPage(context) {
    const { follow } = readQuery(context, logsQuery());
    const visitor = await context.get("visitor")();
    const { status } = visitor.facts;
    const { value: tail = { lines: [] }, problem } = await attempt(LIMIT_MS, lastLines(sandbox, LINES));
    const page = logsPage({ visitor, status, tail, problem, follow: follow === "1" });
    return htmlPage(context, page, 200, LOGS_SCRIPT);
  };
}

/** Content of the page of the logs. */
interface LogsView {
  visitor: Visitor;
  status: SandboxStatus;
  tail: LogTail;
  /** Why there are no lines. */
  problem: Reason | undefined;
  /** The page reloads automatically, without its script. */
  follow: boolean;
}

/** The page of `/_admin/logs`. With scripts it follows the log automatically, else only on request. */
function logsPage({ visitor, status, tail, problem, follow }: LogsView): Markup {
  const { lines, next } = tail;
  const path = ROUTES.logsPage.path;
  const ways = follow
    ? html`<a href="${path}">Stop following</a>`
    : html`<a href="${path}">Load again</a> ·
        <a href="${path}?follow=1">Follow every ${FOLLOW_SECONDS} s</a>`;
  const download = html`<a href="${ROUTES.logs.path}?lines=500" download="steward-logs.json"
    >Download 500 lines</a
  >`;
  const none =
    status.state === "stopped" ? "No lines are available while the container is stopped." : "No lines.";
  // Not a live region: read aloud, a log would drown out everything else.
  const output = html`<pre
    id="output"
    role="region"
    aria-label="The gateway's output"
    aria-live="off"
    tabindex="0"
    data-from="${ROUTES.logs.path}"
    ${follow ? "" : html`data-lines="${JSON.stringify(lines)}"`}
    ${next === undefined ? "" : html`data-next="${next}"`}
    ${lines.length === 0 ? "hidden" : ""}
  >
${lines.map(readableLine).join("\n")}</pre>`;
  return adminFrame(
    {
      title: "Logs",
      visitor,
      refreshSeconds: follow ? FOLLOW_SECONDS : undefined,
      script: follow ? undefined : LOGS_SCRIPT,
    },
    html`${stateLine(status, visitor.health.overall)} ${reasonBox(problem)}
      <p id="ways">${ways}</p>
      ${lines.length === 0 ? "" : html`<p>${download}</p>`} ${follow ? "" : controls()} ${output}
      <p id="none" class="soft" ${lines.length === 0 ? "" : "hidden"}>${none}</p>`,
  );
}

/** Shown by the script that they need. */
function controls(): Markup {
  return html`<form id="controls" class="row" hidden>
    <label
      >Level
      <select id="level">
        <option value="debug">All</option>
        <option value="info">Info and above</option>
        <option value="warning">Warnings and errors</option>
        <option value="error">Errors</option>
      </select></label
    >
    <label>Text <input id="text" type="search" autocomplete="off" /></label>
    <button type="button" id="pause" aria-pressed="false">Pause</button>
    <p id="note" class="soft" role="status"></p>
  </form>`;
}
