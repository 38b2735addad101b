import { html } from "hono/html";
import type { SandboxStatus } from "../../contract/control.ts";
import type { Reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import { adminFrame, type Visitor } from "./admin-frame.ts";
import { reasonBox, stateLine } from "./home.ts";
import type { Markup } from "./layout.ts";

/** Seconds after which a page that follows loads again. */
const FOLLOW_SECONDS = 5;

/** What the page of the logs shows. */
export interface LogsView {
  visitor: Visitor;
  status: SandboxStatus;
  /** Oldest first. */
  lines: readonly string[];
  /** Why there are none. */
  problem: Reason | undefined;
  follow: boolean;
}

/** The page of `/_admin/logs`. It loads again by itself only where that was asked for. */
export function logsPage({ visitor, status, lines, problem, follow }: LogsView): Markup {
  const path = ROUTES.logsPage.path;
  const refreshSeconds = follow ? FOLLOW_SECONDS : undefined;
  const ways = follow
    ? html`<a href="${path}">Stop following</a>`
    : html`<a href="${path}">Load again</a> ·
        <a href="${path}?follow=1">Follow every ${FOLLOW_SECONDS} s</a>`;
  const text = html`<pre role="region" aria-label="The gateway's output">${lines.join("\n")}</pre>`;
  const none =
    status.state === "stopped" ? "No lines are kept while the container is stopped." : "There are no lines.";
  return adminFrame(
    { title: "Logs", visitor, refreshSeconds },
    html`${stateLine(status)} ${reasonBox(problem)}
      <p>${ways}</p>
      ${lines.length === 0 ? html`<p class="soft">${none}</p>` : text}`,
  );
}
