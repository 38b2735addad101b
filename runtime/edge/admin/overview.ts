import type { Handler } from "hono";
import { html } from "hono/html";
import type { GatewayStatus, ProcessInfo, SandboxStatus } from "../../contract/control.ts";
import { type Duty, measuredOver, SHORTEST_DUTY_HOURS } from "../../contract/duty.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { gatewayDetails, listProcesses } from "../debug-routes.ts";
import { adminFrame, type Visitor } from "../pages/admin-frame.ts";
import { age, moment } from "../pages/age.ts";
import { reasonBox, repairLink, stateLine } from "../pages/home.ts";
import { contentSecurityPolicy, type Markup } from "../pages/layout.ts";
import { startsPart } from "../pages/starts.ts";
import type { Backups, BackupsStatus, Clock, Ledger, LedgerCounts, Sandbox } from "../ports.ts";
import { type AccessList, readAccessList } from "./access-list.ts";
import { attempt, type Attempt } from "../operate.ts";
import { listPart } from "./devices.ts";
import { type Flash, readFlash } from "./flash.ts";

/** Dependencies of the overview. */
interface OverviewOptions {
  /** The edge's, by its hash. */
  bundle: string;
  ledger: Ledger;
  sandbox: Sandbox;
  backups: Backups;
  clock: Clock;
  signsOut: boolean;
}

/** The overview does not wait longer for what the container tells. */
const LIMIT_MS = 3_000;

/** `GET /_admin/`: the state of everything, who waits for approval, and which browsers have it. */
export function showOverview(options: OverviewOptions): Handler<AccessVariables> {
  const { bundle, ledger, sandbox, backups, clock, signsOut } = options;
  return async function handleOverview(context) {
    const status = await sandbox.status();
    const [counts, { value: list }, details, copies, access] = await Promise.all([
      ledger.counts(),
      attempt(LIMIT_MS, listProcesses(sandbox, false)),
      gatewayDetails(sandbox),
      attempt(LIMIT_MS, backups.status()),
      status.state === "stopped" ? undefined : attempt(LIMIT_MS, readAccessList(sandbox, clock)),
    ]);
    const processes = list?.processes;
    const flash = readFlash(context);
    const visitor = { identity: context.get("identity"), signsOut };
    context.header("content-security-policy", await contentSecurityPolicy());
    const told = {
      status,
      bundle,
      counts,
      processes,
      details,
      access: access?.value,
      backups: copies,
      now: clock(),
    };
    return context.html(overviewPage({ visitor, flash, ...told }));
  };
}

/** Content of the overview. */
interface Overview {
  visitor: Visitor;
  flash: Flash;
  status: SandboxStatus;
  /** The edge's. */
  bundle: string;
  counts: LedgerCounts;
  /** The container's processes; empty while it is stopped, `undefined` where it does not tell. */
  processes: ProcessInfo[] | undefined;
  /** Told by the gateway itself; `undefined` while it is not ready. */
  details: GatewayStatus | undefined;
  /** Senders that wait for approval, and browsers that have it, where it is known. */
  access: AccessList | undefined;
  backups: Attempt<BackupsStatus>;
  now: number;
}

/** The overview of `/_admin/`. */
function overviewPage({
  visitor,
  flash,
  status,
  bundle,
  counts,
  processes,
  details,
  access,
  backups,
  now,
}: Overview): Markup {
  const coldStart = status.coldStartMs === undefined ? "not measured yet" : `${status.coldStartMs} ms`;
  return adminFrame(
    { title: "Overview", visitor, flash },
    html`<h2>Gateway</h2>
      ${stateLine(status)} ${reasonBox(status.reason)} ${repairLink(status.reason)}
      ${recoveredPart(backups, now)}
      <dl>
        <dt>Since</dt>
        <dd>${moment(status.since)}</dd>
        <dt>Version</dt>
        <dd>${status.version ?? "unknown while it is stopped"}</dd>
        <dt>Bundle</dt>
        <dd>${bundlePart(bundle, status.bundle)}</dd>
        <dt>Restarts</dt>
        <dd>${status.restarts}</dd>
        <dt>Last cold start</dt>
        <dd>${coldStart}</dd>
        ${status.duty === undefined ? "" : awakePart(status.duty)}
      </dl>
      ${startsPart(status.coldStarts, now)} ${access === undefined ? unknownAccess() : listPart(access, now)}
      ${details === undefined ? "" : detailsPart(details)}
      <h2>Events</h2>
      <p><a href="${ROUTES.ledgerPage.path}">See them in the ledger</a></p>
      <dl>
        <dt>Waiting</dt>
        <dd>${counts.waiting}</dd>
        <dt>Being delivered</dt>
        <dd>${counts.delivering}</dd>
        <dt>Answered</dt>
        <dd>${counts.answered}</dd>
        <dt>Ignored</dt>
        <dd>${counts.ignored}</dd>
        <dt>Failed</dt>
        <dd>${counts.failed}</dd>
      </dl>
      <h2>Backups</h2>
      <p><a href="${ROUTES.backupsPage.path}">Last backup: ${lastBackup(backups, now)}</a></p>
      ${reasonBox(backups.problem ?? backups.value?.problem)}
      <h2>Processes</h2>
      ${processes === undefined ? html`<p class="soft">Not known: the container does not answer.</p>` : ""}
      ${processes?.length === 0 ? html`<p class="soft">None runs while the container is stopped.</p>` : ""}
      <dl>
        ${(processes ?? []).map(
          ({ name, state, pid, restarts }) =>
            html`<dt>${name}</dt>
              <dd>${state}${pid === null ? "" : `, pid ${pid}`}, ${restarts} restarts</dd>`,
        )}
      </dl>
      ${
        status.state === "stopped"
          ? ""
          : html`<p><a href="${ROUTES.restartPage.path}">Restart the gateway</a></p>`
      }`,
  );
}

function unknownAccess(): Markup {
  return html`<h2>Access</h2>
    <p class="soft">
      Who waits for approval is known once the container answers:
      <a href="${ROUTES.devicesPage.path}">open the list</a>.
    </p>`;
}

/** Renders what the cost comes of. */
function awakePart({ measuredHours, awakeHours }: Duty): Markup {
  const known = measuredHours >= SHORTEST_DUTY_HOURS;
  return html`<dt>Awake</dt>
    <dd>
      ${known ? `${awakeHours.toFixed(1)} hours a day, ${measuredOver(measuredHours)}` : "not measured for a day yet"}
    </dd>`;
}

/** One name where edge and container run from the same bundle, as on a host. */
function bundlePart(edge: string, container: string | undefined): Markup {
  if (edge === container) return html`<code>${edge}</code>`;
  return html`<code>${edge}</code>, container
    ${container === undefined ? "unknown while it is stopped" : html`<code>${container}</code>`}`;
}

/** Renders when the newest one was made. */
export function lastBackup({ value }: Attempt<BackupsStatus>, now: number): Markup | string {
  if (value === undefined) return "not known";
  return value.lastAt === undefined ? "none yet" : age(Date.parse(value.lastAt), now);
}

/** Renders a note that the config is not the one that somebody wrote last. */
export function recoveredPart({ value }: Attempt<BackupsStatus>, now: number): Markup | "" {
  if (value?.recovered === undefined) return "";
  const { id, at } = value.recovered;
  return html`<aside>
    <p>
      <strong>The config file was not valid at a start</strong>, so the one of the backup
      <code>${id}</code> was taken by itself, ${age(Date.parse(at), now)}. The file that was not valid is kept
      beside it.
    </p>
    <p><a href="${ROUTES.configEdit.path}">Edit the configuration</a></p>
  </aside>`;
}

/** Channels, models and what comes next, each trouble with the platform's own word for it and the fix. */
function detailsPart({ channels, models, schedules, config }: GatewayStatus): Markup {
  return html`<h2>Channels</h2>
    ${channels.length === 0 ? html`<p class="soft">None is configured.</p>` : ""}
    <dl>
      ${channels.map(
        ({ platform, state, lastEventAt, reason }) =>
          html`<dt>${platform}</dt>
            <dd>
              ${state}${lastEventAt === undefined ? "" : html`, last event ${moment(lastEventAt)}`}
              ${reasonBox(reason)}
            </dd>`,
      )}
    </dl>
    <h2>Models</h2>
    <dl>
      ${models.map(
        ({ id, state, until, reason }) =>
          html`<dt>${id}</dt>
            <dd>
              ${state}${until === undefined ? "" : html` until ${moment(until)}`} ${reasonBox(reason)}
            </dd>`,
      )}
    </dl>
    <h2>Schedules</h2>
    <dl>
      <dt>Kept</dt>
      <dd>${schedules.count}</dd>
      <dt>Next</dt>
      <dd>${schedules.nextAt === undefined ? "none" : moment(schedules.nextAt)}</dd>
      <dt>Missed in seven days</dt>
      <dd>${schedules.missed}</dd>
    </dl>
    ${reasonBox(config.problem)} ${repairLink(config.problem)}`;
}
