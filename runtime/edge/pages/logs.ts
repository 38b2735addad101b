import { html } from "hono/html";
import type { SandboxStatus } from "../../contract/control.ts";
import type { Reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { LogTail } from "../debug-routes.ts";
import { adminFrame, type Visitor } from "./admin-frame.ts";
import { reasonBox, stateLine } from "./home.ts";
import type { Markup } from "./layout.ts";
import { LOGS_SCRIPT } from "./logs-script.ts";

/** Seconds after which a page that follows loads again. */
const FOLLOW_SECONDS = 5;

/** What the page of the logs shows. */
export interface LogsView {
  visitor: Visitor;
  status: SandboxStatus;
  tail: LogTail;
  /** Why there are no lines. */
  problem: Reason | undefined;
  /** It loads again by itself, without its script. */
  follow: boolean;
}

/** The page of `/_admin/logs`. Where scripts run it follows by itself, else only where that was asked for. */
export function logsPage({ visitor, status, tail, problem, follow }: LogsView): Markup {
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
