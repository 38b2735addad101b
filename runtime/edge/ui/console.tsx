import type { Context } from "hono";
import type { Child } from "hono/jsx";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { ERRORS, reason, type Reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import { DONE, type Done, type Flash, readFlash } from "../admin/flash.ts";
import type { AssetName } from "../assets.ts";
import type { AccessVariables, Visitor } from "../access.ts";
import type { Overall } from "../health.ts";
import { SignOutForm } from "../sign-in.tsx";
import { Document, type Markup } from "./document.tsx";
import { ActionButton } from "./form.tsx";
import { Icon, type IconName } from "./icons.tsx";
import { AlertBox } from "./state.tsx";
import { Moment } from "./time.tsx";

interface NavigationEntry {
  path: string;
  title: string;
  icon: IconName;
}

const page = (path: string, title: string, icon: IconName): NavigationEntry => ({ path, title, icon });

const group = (heading: string, ...pages: NavigationEntry[]) => ({ heading, pages });

const NAVIGATION = [
  group("", page(ROUTES.admin.path, "Overview", "house")),
  group(
    "Messages",
    page(ROUTES.sessionsPage.path, "Conversations", "messages"),
    page(ROUTES.ledgerPage.path, "Events", "inbox"),
    page(ROUTES.schedulesPage.path, "Schedules", "calendarClock"),
    page(ROUTES.usagePage.path, "Usage", "chartColumn"),
  ),
  group(
    "People",
    page(ROUTES.devicesPage.path, "Access", "users"),
    page(ROUTES.tenantsPage.path, "Chats", "boxes"),
  ),
  group(
    "Assistant",
    page(ROUTES.channelsPage.path, "Channels", "plug"),
    page(ROUTES.modelsPage.path, "Models", "cpu"),
    page(ROUTES.workspacePage.path, "Workspace", "folder"),
    page(ROUTES.configPage.path, "Configuration", "settings"),
  ),
  group(
    "Operation",
    page(ROUTES.logsPage.path, "Logs", "scroll"),
    page(ROUTES.backupsPage.path, "Backups", "archive"),
    page(ROUTES.activityPage.path, "Activity", "clipboardClock"),
    page(ROUTES.rolloutsPage.path, "Rollouts", "rocket"),
    page(ROUTES.aboutPage.path, "About", "info"),
  ),
];
export const PAGES: readonly NavigationEntry[] = NAVIGATION.flatMap(({ pages }) => pages);

const TONES: Record<Overall, string> = {
  Healthy: "ok",
  Degraded: "warn",
  Down: "bad",
  Asleep: "wait",
  Starting: "wait",
};

/** Reload interval while the container starts. */
const STARTING_SECONDS = 3;
/** Actions after which a browser without scripts reloads the page, because the displayed state soon changes. */
const CHANGES_STATE: ReadonlySet<Done> = new Set(["restarting", "restored", "fresh", "saved", "waking"]);

interface FrameOptions {
  title: string;
  /** Result of the last pressed button. Default: read from the query. */
  flash?: Flash;
  refreshSeconds?: number | undefined;
  /** True if the page follows changes in the container's state: with `live.js` or, without scripts, by reloading. */
  waits?: boolean;
  /** Scripts in addition to `live.js`. */
  scripts?: readonly AssetName[];
  /** ISO 8601 time of the displayed state; absent for the current state. */
  asOf?: string | undefined;
}

/** Responds with an admin page: the common frame and the page's content. */
export async function adminPage(
  context: Context<AccessVariables>,
  options: FrameOptions,
  content: Markup | ((visitor: Visitor) => Markup),
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  const visitor = await context.get("visitor")();
  const own = typeof content === "function" ? content(visitor) : content;
  const flash = options.flash ?? readFlash(context);
  const shown = (
    <ConsolePage {...options} visitor={visitor} flash={flash}>
      {own}
    </ConsolePage>
  );
  return context.html(shown, status);
}

/** Returns the HTTP status for a page that shows this problem; 200 without a problem. */
export function statusOf(problem: Reason | undefined): ContentfulStatusCode {
  return problem === undefined ? 200 : ERRORS[problem.code].status;
}

export function isPage(path: string): boolean {
  return PAGES.some((one) => one.path === path);
}

interface ConsoleProps extends FrameOptions {
  visitor: Visitor;
  children: Child;
}

function ConsolePage(props: ConsoleProps): Markup {
  const { title, visitor, flash, waits = false, asOf, children } = props;
  const { environment, health } = visitor;
  const { overall } = health;
  const path = PAGES.find((one) => one.title === title)?.path;
  const open = (visitor.facts.details?.pending ?? 0) + health.problems.length;
  const isWaking = overall === "Asleep" || overall === "Starting";
  const isChanging = flash?.done !== undefined && CHANGES_STATE.has(flash.done);
  // A reload would remove the error message before the operator has read it.
  const reloads = waits && flash?.problem === undefined && (isWaking || isChanging);
  // Hide a notice such as "restarting" if the gateway cannot start.
  const isRefuted = overall === "Down" && (flash?.done === "restarting" || flash?.done === "waking");
  return (
    <Document
      title={`${open > 0 ? `(${open}) ` : ""}${title} · steward${environment === undefined ? "" : ` ${environment}`}`}
      header={<Header title={title} visitor={visitor} />}
      shell
      refreshSeconds={props.refreshSeconds ?? (reloads ? STARTING_SECONDS : undefined)}
      refreshTo={reloads ? path : undefined}
      scripts={["live.js", ...(props.scripts ?? [])]}
      live={waits}
      revision={visitor.revision}
      notice={
        !isRefuted && flash?.done !== undefined && <Toast done={flash.done} undo={flash.undo} path={path} />
      }
    >
      <h1>{title}</h1>
      {flash?.problem !== undefined && <AlertBox reason={reason(flash.problem)} />}
      {(waits || asOf !== undefined) && asOfPart(asOf, overall === "Asleep" ? path : undefined)}
      {children}
    </Document>
  );
}

function Header({ title, visitor }: { title: string; visitor: Visitor }): Markup {
  const { chat, environment, health, identity, signsOut } = visitor;
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <div class="frame">
        <header class="bar">
          <input type="checkbox" id="menu" class="unseen" aria-label="Show the navigation" />
          <label for="menu" class="menu" aria-hidden="true">
            <Icon name="menu" />
          </label>
          <p class="brand">
            <a href={ROUTES.admin.path}>steward</a>
            <Environment name={environment} />
          </p>
          <a class="button find" href={ROUTES.searchPage.path} aria-keyshortcuts="Control+K">
            <Icon name="search" />
            <span>Search</span>
            <kbd aria-hidden="true">Ctrl K</kbd>
          </a>
          <p class={`badge ${TONES[health.overall]}`} title="Overall state">
            {health.overall}
          </p>
        </header>
        <nav class="side" aria-label="Administration">
          <ShownChat chat={chat} />
          {NAVIGATION.map(({ heading, pages }) => (
            <>
              {heading !== "" && <h2>{heading}</h2>}
              <ul>
                {pages
                  .filter(({ path }) => path !== ROUTES.tenantsPage.path || chat !== undefined)
                  .map((one) => navigationLink(one, one.title === title, visitor))}
              </ul>
            </>
          ))}
          <div class="who">
            <span>Signed in as {identity.name}</span>
            {signsOut && <SignOutForm />}
          </div>
        </nav>
      </div>
    </>
  );
}

/** Renders a link to a page. The badge is outside the link, so it does not change the link's accessible name. */
function navigationLink(
  { path, title, icon }: NavigationEntry,
  isCurrent: boolean,
  visitor: Visitor,
): Markup {
  const pending = path === ROUTES.devicesPage.path ? (visitor.facts.details?.pending ?? 0) : 0;
  return (
    <li>
      <a href={path} aria-current={isCurrent ? "page" : undefined}>
        <Icon name={icon} />
        {title}
      </a>
      {pending > 0 && (
        <span class="badge warn" title="Waiting for approval">
          {pending}
        </span>
      )}
    </li>
  );
}

/** Renders the age of the displayed state, and a button that starts a sleeping container. */
export function asOfPart(asOf: string | undefined, wakeFrom?: string): Markup | null {
  if (asOf === undefined && wakeFrom === undefined) return null;
  return (
    <div class="asof" role="note">
      {asOf !== undefined && (
        <p>
          As of <Moment at={asOf} />, when the container was last asked.
        </p>
      )}
      {wakeFrom !== undefined && (
        <ActionButton action={ROUTES.wake.path} value={["page", wakeFrom]} tone="primary">
          Wake now
        </ActionButton>
      )}
    </div>
  );
}

function ShownChat({ chat }: { chat: Visitor["chat"] }): Markup | null {
  if (chat === undefined) return null;
  return (
    <p class="badge">
      <a href={ROUTES.tenantsPage.path}>{chat === "everyChat" ? "Browsers and the deployment" : chat}</a>
    </p>
  );
}

function Environment({ name }: { name: string | undefined }): Markup | null {
  if (name === undefined) return null;
  return <span class={`badge ${/^prod/i.test(name) ? "production" : "environment"}`}>{name}</span>;
}

function Toast({ done, undo, path }: Pick<Flash, "undo"> & { done: Done; path: string | undefined }): Markup {
  return (
    <div class="toast done" role="status">
      <p>{DONE[done]}</p>
      {undo !== undefined && (
        <ActionButton action={ROUTES.undo.path} fields={[["page", path]]} value={["undo", undo]}>
          Undo
        </ActionButton>
      )}
    </div>
  );
}
