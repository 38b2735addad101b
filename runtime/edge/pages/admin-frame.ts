import type { Context } from "hono";
import { html } from "hono/html";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { ERRORS, reason, type Reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import { DONE, type Done, type Flash, readFlash } from "../admin/flash.ts";
import type { AccessVariables, Visitor } from "../access.ts";
import type { Overall } from "../health.ts";
import { signOutForm } from "../sign-in.ts";
import { moment } from "./age.ts";
import { alertBox } from "./home.ts";
import { contentSecurityPolicy, type Markup, page } from "./layout.ts";
import { LIVE_SCRIPT } from "./scripts.ts";

/** The administration's pages, in the order of the navigation. */
const PAGES = [
  [ROUTES.admin.path, "Overview"],
  [ROUTES.tenantsPage.path, "Chats"],
  [ROUTES.devicesPage.path, "Access"],
  [ROUTES.sessionsPage.path, "Conversations"],
  [ROUTES.ledgerPage.path, "Events"],
  [ROUTES.schedulesPage.path, "Schedules"],
  [ROUTES.workspacePage.path, "Workspace"],
  [ROUTES.channelsPage.path, "Channels"],
  [ROUTES.modelsPage.path, "Models"],
  [ROUTES.usagePage.path, "Usage"],
  [ROUTES.logsPage.path, "Logs"],
  [ROUTES.configPage.path, "Configuration"],
  [ROUTES.backupsPage.path, "Backups"],
  [ROUTES.activityPage.path, "Activity"],
  [ROUTES.rolloutsPage.path, "Rollouts"],
  [ROUTES.aboutPage.path, "About"],
] as const;

const TONES: Record<Overall, string> = {
  Healthy: "ok",
  Degraded: "warn",
  Down: "bad",
  Asleep: "wait",
  Starting: "wait",
};

/** Seconds between reloads while the container starts. */
const STARTING_SECONDS = 3;
/** Actions after which the page has to show another state soon. The reload drops the notice. */
const CHANGES_STATE: ReadonlySet<Done> = new Set(["restarting", "restored", "fresh", "saved", "waking"]);

/** A page's own part within the frame. */
interface FrameOptions {
  title: string;
  /** Default: what the query tells. */
  flash?: Flash;
  refreshSeconds?: number | undefined;
  /** Shows the state, so it is kept up to date; without scripts it reloads while the container starts. */
  waits?: boolean;
  /** In place of the one that keeps the page up to date. */
  script?: string | undefined;
  /** ISO 8601: the time of the state that the page shows; absent if it is the present one. */
  asOf?: string | undefined;
}

/**
 * Answers with a page of the administration: product and environment, overall state, navigation, who is signed in, what
 * the last button did, and the page's own part.
 */
export async function adminPage(
  context: Context<AccessVariables>,
  options: FrameOptions,
  content: Markup | ((visitor: Visitor) => Markup),
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  const visitor = await context.get("visitor")();
  const own = typeof content === "function" ? content(visitor) : content;
  const markup = frame(visitor, { flash: readFlash(context), ...options }, own);
  context.header("content-security-policy", await contentSecurityPolicy(options.script ?? LIVE_SCRIPT));
  return context.html(markup, status);
}

/** Returns the status of a page that shows a problem, and of one that shows none. */
export function statusOf(problem: Reason | undefined): ContentfulStatusCode {
  return problem === undefined ? 200 : ERRORS[problem.code].status;
}

function frame(visitor: Visitor, options: FrameOptions, content: Markup): Markup {
  const { title, flash, waits = false, asOf } = options;
  const script = options.script ?? (waits ? LIVE_SCRIPT : undefined);
  const { environment, chat, health } = visitor;
  const isWaking = health.overall === "Asleep" || health.overall === "Starting";
  const isChanging = flash?.done !== undefined && CHANGES_STATE.has(flash.done);
  // A reload would drop the message about a failure before it is read.
  const reloads = waits && flash?.problem === undefined && (isWaking || isChanging);
  const refreshSeconds = options.refreshSeconds ?? (reloads ? STARTING_SECONDS : undefined);
  const refreshTo = reloads ? PAGES.find(([, name]) => name === title)?.[0] : undefined;
  const header = html`<a class="skip" href="#content">Skip to the content</a>
    <header>
      <p class="brand"><a href="${ROUTES.admin.path}">steward</a> ${environmentBadge(environment)}</p>
      ${chatBadge(chat)}
      <p class="badge ${TONES[health.overall]}" title="Overall state">${health.overall}</p>
      <div class="who">
        <p class="soft">Signed in as ${visitor.identity.name}</p>
        ${visitor.signsOut ? signOutForm() : ""}
      </div>
    </header>
    <input type="checkbox" id="menu" class="unseen" aria-label="Show the navigation" />
    <label for="menu" class="menu" aria-hidden="true">☰ ${title}</label>
    <nav class="side" aria-label="Administration">
      <ul>
        ${PAGES.filter(([path]) => path !== ROUTES.tenantsPage.path || chat !== undefined).map(
          ([path, name]) =>
            html`<li>
              <a href="${path}" ${name === title ? html`aria-current="page"` : ""}>${name}</a>
              ${path === ROUTES.devicesPage.path ? pendingBadge(visitor.facts.details?.pending) : ""}
            </li>`,
        )}
      </ul>
    </nav>`;
  const body = html`<h1>${title}</h1>
    ${flashBox(contradicts(flash, health.overall) ? undefined : flash)}
    ${waits ? asleepPart(title, health.overall, asOf) : ""} ${content}`;
  const named = environment === undefined ? "steward" : `steward ${environment}`;
  return page(`${title} – ${named}`, body, { refreshSeconds, refreshTo, header, script, shell: true });
}

/** Returns true for a notice of a start while the gateway cannot start. */
function contradicts(flash: Flash | undefined, overall: Overall): boolean {
  return (flash?.done === "restarting" || flash?.done === "waking") && overall === "Down";
}

/** Says how old the content is, and wakes a container that sleeps. */
function asleepPart(title: string, overall: Overall, asOf: string | undefined): Markup | "" {
  const path = PAGES.find(([, name]) => name === title)?.[0];
  const isAsleep = overall === "Asleep" && path !== undefined;
  if (asOf === undefined && !isAsleep) return "";
  return html`<div class="asof" role="note">
    ${asOf === undefined ? "" : html`<p>As of ${moment(asOf)}, when the container was last asked.</p>`}
    ${
      isAsleep
        ? html`<form method="post" action="${ROUTES.wake.path}">
            <button name="page" value="${path}" class="primary">Wake now</button>
          </form>`
        : ""
    }
  </div>`;
}

/** Tells whether a path is one of the navigation's pages. */
export function isPage(path: string): boolean {
  return PAGES.some(([own]) => own === path);
}

/** Approvals that somebody waits for. Beside the link, whose name stays as it is. */
function pendingBadge(pending = 0): Markup | "" {
  return pending === 0 ? "" : html`<span class="badge warn" title="Waiting for approval">${pending}</span>`;
}

/** Names the chat whose sandbox the pages show, so that nobody takes it for another's. */
function chatBadge(chat: Visitor["chat"]): Markup | "" {
  if (chat === undefined) return "";
  const name = chat === "everyChat" ? "Browsers and the deployment" : chat;
  return html`<p class="badge"><a href="${ROUTES.tenantsPage.path}">${name}</a></p>`;
}

/** Production stands out, so that nobody takes it for a test. */
function environmentBadge(name: string | undefined): Markup | "" {
  if (name === undefined) return "";
  const tone = /^prod/i.test(name) ? "production" : "environment";
  return html`<span class="badge ${tone}">${name}</span>`;
}

function flashBox({ done, problem }: Flash = {}): Markup | "" {
  if (problem !== undefined) return alertBox(reason(problem));
  return done === undefined ? "" : html`<aside class="done" role="status"><p>${DONE[done]}</p></aside>`;
}
