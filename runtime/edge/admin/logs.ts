import type { Handler } from "hono";
import { html } from "hono/html";
import * as z from "zod/mini";
import type { LogTail } from "../../contract/control.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { lastLines } from "../debug-routes.ts";
import { adminPage } from "../pages/admin-frame.ts";
import { reasonBox, stateLine } from "../pages/home.ts";
import type { Markup } from "../pages/layout.ts";
import { LOGS_SCRIPT } from "../pages/scripts.ts";
import { readableLine } from "../../shared/log.ts";
import { readQuery } from "../form.ts";
import { attempt } from "../operate.ts";
import { LIMIT_MS } from "./answers.ts";
import type { AdminOptions } from "./options.ts";

/** Seconds after which a page that follows loads again. */
const FOLLOW_SECONDS = 5;

const LINES = 200;
const logsQuery = () => z.strictObject({ follow: z.optional(z.literal("1")) });

/**
 * `GET /_admin/logs?follow=1`: the end of the gateway's output, redacted; wakes nothing. A script follows the output;
 * without scripts the page loads again if `follow` asks for it.
 */
export function showLogs({ sandbox }: AdminOptions): Handler<AccessVariables> {
  return async function handleLogsPage(context) {
    const follow = readQuery(context, logsQuery()).follow === "1";
    const { facts, health } = await context.get("visitor")();
    const { value: tail = { lines: [] }, problem } = await attempt(LIMIT_MS, lastLines(sandbox, LINES));
    const head = html`${stateLine(facts.status, health.overall)} ${reasonBox(problem)}`;
    const content = html`${head} ${linesPart(tail, follow, facts.status.state === "stopped")}`;
    const ways = follow ? { refreshSeconds: FOLLOW_SECONDS } : { script: LOGS_SCRIPT };
    return adminPage(context, { title: "Logs", ...ways }, content);
  };
}

function linesPart({ lines, next }: LogTail, follow: boolean, isStopped: boolean): Markup {
  const path = ROUTES.logsPage.path;
  const ways = follow
    ? html`<a href="${path}">Stop following</a>`
    : html`<a href="${path}">Load again</a> ·
        <a href="${path}?follow=1">Follow every ${FOLLOW_SECONDS} s</a>`;
  const download = html`<a href="${ROUTES.logs.path}?lines=500" download="steward-logs.json"
    >Download 500 lines</a
  >`;
  const none = isStopped ? "No lines are available while the container is stopped." : "No lines.";
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
  return html`<p id="ways">${ways}</p>
    ${lines.length === 0 ? "" : html`<p>${download}</p>`} ${follow ? "" : controls()} ${output}
    <p id="none" class="soft" ${lines.length === 0 ? "" : "hidden"}>${none}</p>`;
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
