import type { Handler } from "hono";
import { html } from "hono/html";
import * as z from "zod/mini";
import type { RetentionNotice, SandboxStatus } from "../../contract/control.ts";
import type { Reason } from "../../contract/errors.ts";
import type { AccessVariables } from "../access.ts";
import { gatewayDetails } from "../debug-routes.ts";
import { attempt, operateJson } from "../operate.ts";
import { adminFrame, htmlPage, type Visitor } from "../pages/admin-frame.ts";
import { age } from "../pages/age.ts";
import { reasonBox, stateLine } from "../pages/home.ts";
import type { Markup } from "../pages/layout.ts";
import type { Clock, Sandbox } from "../ports.ts";

/** More rows than somebody reads on a page; the command line has them all. */
const MOST_ROWS = 200;

const LIMIT_MS = 10_000;

/** Never what was written. */
// Made when the page is asked for, and not at a start.
const sessionsSchema = () =>
  z.object({
    sessions: z.array(z.object({ conversation: z.string(), messages: z.int(), lastAt: z.iso.datetime() })),
  });

/** `GET /_admin/sessions`: the conversations that are kept; wakes nothing. */
export function showSessions(sandbox: Sandbox, clock: Clock, signsOut: boolean): Handler<AccessVariables> {
  return async function handleSessions(context) {
    const status = await sandbox.status();
    const listed = status.state !== "stopped" && operateJson(sandbox, ["sessions", "list"], sessionsSchema());
    const [{ value, problem }, details] = await Promise.all([
      attempt(LIMIT_MS, Promise.resolve(listed || undefined)),
      gatewayDetails(sandbox),
    ]);
    const visitor = { identity: context.get("identity"), signsOut };
    const { sessions: list } = value ?? {};
    const { retention } = details ?? {};
    return htmlPage(context, sessionsPage({ visitor, status, list, retention, problem, now: clock() }));
  };
}

/** A conversation as it may be shown. */
interface SessionRow {
  /** `<platform>:<the platform's ids>` */
  conversation: string;
  messages: number;
  /** ISO 8601 */
  lastAt: string;
}

/** Content of the page of the sessions. */
interface SessionsView {
  visitor: Visitor;
  status: SandboxStatus;
  /** Newest first; `undefined` while the container is stopped or does not tell. */
  list: readonly SessionRow[] | undefined;
  /** Messages that `sessions.retention` is going to remove. */
  retention: RetentionNotice | undefined;
  problem: Reason | undefined;
  now: number;
}

/** The page of `/_admin/sessions`. */
function sessionsPage({ visitor, status, list, retention, problem, now }: SessionsView): Markup {
  return adminFrame(
    { title: "Sessions", visitor },
    html`${stateLine(status)} ${reasonBox(problem)} ${retentionNote(retention)}
    ${list === undefined ? "" : listPart(list, now)}
    ${
      status.state === "stopped"
        ? html`<p class="soft">The conversations can be read once the container runs.</p>`
        : ""
    }`,
  );
}

function retentionNote(retention: RetentionNotice | undefined): Markup | "" {
  if (retention === undefined || retention.messages === 0) return "";
  const { messages, beginsAt } = retention;
  return html`<p role="note">
    By <code>sessions.retention</code> of the config ${messages} messages are going to be removed, from
    <time datetime="${beginsAt}">${beginsAt.slice(0, 16).replace("T", " ")} UTC</time> on. They stay in the
    backups that are there, for as long as those are kept.
  </p>`;
}

function listPart(list: readonly SessionRow[], now: number): Markup {
  if (list.length === 0) return html`<p class="soft">Nobody has written yet.</p>`;
  const more = list.length > MOST_ROWS ? `, of them the latest ${MOST_ROWS}` : "";
  return html`<div class="table" role="region" aria-label="Conversations" tabindex="0">
    <table>
      <caption>
        Conversations that are kept: ${list.length}${more}. What was written is not shown.
      </caption>
      <thead>
        <tr>
          <th scope="col">Chat</th>
          <th scope="col" class="number">Messages</th>
          <th scope="col">Last activity</th>
        </tr>
      </thead>
      <tbody>
        ${list.slice(0, MOST_ROWS).map((row) => sessionRow(row, now))}
      </tbody>
    </table>
  </div>`;
}

function sessionRow({ conversation, messages, lastAt }: SessionRow, now: number): Markup {
  const [platform = "", ...ids] = conversation.split(":");
  return html`<tr>
    <th scope="row"><span class="soft">${platform}</span> <code>${ids.join(":")}</code></th>
    <td class="number">${messages}</td>
    <td>${age(Date.parse(lastAt), now)}</td>
  </tr>`;
}
