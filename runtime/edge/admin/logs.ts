import type { Handler } from "hono";
import { html } from "hono/html";
import * as z from "zod/mini";
import type { SandboxStatus } from "../../contract/control.ts";
import type { Reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { lastLines, type LogTail } from "../debug-routes.ts";
import { adminFrame, type Visitor } from "../pages/admin-frame.ts";
import { reasonBox, stateLine } from "../pages/home.ts";
import { contentSecurityPolicy, type Markup } from "../pages/layout.ts";
import { LOGS_SCRIPT } from "../pages/logs-script.ts";
import type { Sandbox } from "../ports.ts";
import { readQuery } from "../form.ts";
import { attempt } from "../operate.ts";

/** Seconds after which a page that follows loads again. */
const FOLLOW_SECONDS = 5;

const LIMIT_MS = 10_000;
const LINES = 200;
const logsQuery = z.strictObject({ follow: z.optional(z.literal("1")) });

/** `GET /_admin/logs?follow=1`: the end of the gateway's output, redacted; wakes nothing. */
export function showLogs(sandbox: Sandbox, signsOut: boolean): Handler<AccessVariables> {
  return async function handleLogsPage(context) {
    const { follow } = readQuery(context, logsQuery);
    const status = await sandbox.status();
    const { value: tail = { lines: [] }, problem } = await attempt(LIMIT_MS, lastLines(sandbox, LINES));
    const visitor = { identity: context.get("identity"), signsOut };
    context.header("content-security-policy", await contentSecurityPolicy(LOGS_SCRIPT));
    return context.html(logsPage({ visitor, status, tail, problem, follow: follow === "1" }));
  };
}

/** Content of the page of the logs. */
interface LogsView {
  visitor: Visitor;
  status: SandboxStatus;
  tail: LogTail;
  /** Why there are no lines. */
  problem: Reason | undefined;
  /** It loads again by itself, without its script. */
  follow: boolean;
}

/** The page of `/_admin/logs`. Where scripts run it follows by itself, else only where that was asked for. */
function logsPage({ visitor, status, tail, problem, follow }: LogsView): Markup {
  const { lines, next } = tail;
  const path = ROUTES.logsPage.path;
  const ways = follow
    ? html`<a href="${path}">Stop following</a>`
    : html`<a href="${path}">Load again</a> ·
        <a href="${path}?follow=1">Follow every ${FOLLOW_SECONDS} s</a>`;
  const none =
    status.state === "stopped" ? "No lines are kept while the container is stopped." : "There are no lines.";
  // Said aloud, a log would drown out everything else: whoever wants to hear it goes there.
  const output = html`<pre
    id="output"
    role="region"
    aria-label="The gateway's output"
    aria-live="off"
    tabindex="0"
    data-from="${ROUTES.logs.path}"
    ${next === undefined ? "" : html`data-next="${next}"`}
    ${lines.length === 0 ? "hidden" : ""}
  >
${lines.join("\n")}</pre>`;
  return adminFrame(
    {
      title: "Logs",
      visitor,
      refreshSeconds: follow ? FOLLOW_SECONDS : undefined,
      script: follow ? undefined : LOGS_SCRIPT,
    },
    html`${stateLine(status)} ${reasonBox(problem)}
      <p id="ways">${ways}</p>
      ${follow ? "" : controls()} ${output}
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
