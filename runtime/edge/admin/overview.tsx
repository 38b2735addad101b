import type { Handler } from "hono";
import type { FirstWordReport, GatewayStatus, ProcessInfo } from "../../contract/control.ts";
import { type Duty, measuredOver, SHORTEST_DUTY_HOURS } from "../../contract/duty.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables, Visitor } from "../access.ts";
import { listProcesses } from "../debug-routes.ts";
import type { Problem } from "../health.ts";
import { adminPage } from "../ui/console.tsx";
import { Age, Moment } from "../ui/time.tsx";
import { ReasonText, StateLine } from "../ui/state.tsx";
import type { Markup } from "../ui/document.tsx";
import { Starts } from "../ui/starts.tsx";
import { Facts } from "../ui/table.tsx";
import type { BackupsStatus } from "../ports.ts";
import type { AccessList } from "./access-list.ts";
import { attempt, type Attempt } from "../operate.ts";
import { approvedPart, knownAccess, waitingPart } from "./devices.tsx";
import { countsPart } from "./ledger.tsx";
import type { AdminOptions } from "./options.ts";

/** The overview does not wait longer for what the container tells. */
const LIMIT_MS = 3_000;

/** `GET /_admin/`: the state of everything, who waits for approval, and which browsers have it. */
export function showOverview(options: AdminOptions): Handler<AccessVariables> {
  const { bundle, sandbox, clock } = options;
  return async function handleOverview(context) {
    const visitor = await context.get("visitor")();
    const [{ value: list }, { value: access }] = await Promise.all([
      attempt(LIMIT_MS, listProcesses(sandbox, false)),
      knownAccess(options, visitor, LIMIT_MS),
    ]);
    const told = { bundle, processes: list?.processes, access, now: clock() };
    return adminPage(
      context,
      { title: "Overview", asOf: visitor.asOf, waits: true },
      overviewPart(visitor, told),
    );
  };
}

/** Content of the overview, beside what every page knows. */
interface Overview {
  /** The edge's. */
  bundle: string;
  /** The container's processes; empty while it is stopped, `undefined` where it does not tell. */
  processes: ProcessInfo[] | undefined;
  /** Senders that wait for approval, and browsers that have it, where it is known. */
  access: AccessList | undefined;
  now: number;
}

function overviewPart(
  { facts: { status, details, counts }, health, backups }: Visitor,
  { bundle, processes, access, now }: Overview,
): Markup {
  const coldStart = status.coldStartMs === undefined ? "unknown" : `${status.coldStartMs} ms`;
  return (
    <>
      <StateLine status={status} overall={health.overall} /> {problemsPart(health.problems)}
      {recoveredPart(backups, now)} {counts === undefined ? "" : countsPart(counts)}
      <p>
        <a href={ROUTES.ledgerPage.path}>All events</a>
      </p>
      {access === undefined ? unknownAccess() : waitingPart(access, now)}
      <div class="grid">
        {details === undefined ? "" : detailsPart(details)}
        <section class="card">
          <h2>Backups</h2>
          <p>
            <a href={ROUTES.backupsPage.path}>Last backup: {lastBackup(backups, now)}</a>
          </p>
        </section>
        <section class="card">
          <h2>Gateway</h2>
          <Facts
            facts={[
              ["Since", <Moment at={status.since} />],
              ["Version", status.version ?? "unknown while asleep"],
              ["Bundle", bundlePart(bundle, status.bundle)],
              ["Restarts", status.restarts],
              ["Last cold start", coldStart],
              ["Awake", status.duty && awakeText(status.duty)],
            ]}
          />
          <Starts starts={status.coldStarts} now={now} />
        </section>
        <section class="card">
          <h2>Processes</h2>
          {processes === undefined ? <p class="soft">Unknown: the container does not answer.</p> : ""}
          {processes?.length === 0 ? <p class="soft">None runs while the container is stopped.</p> : ""}
          <Facts
            facts={(processes ?? []).map(({ name, state, pid, restarts }) => [
              name,
              `${state}${pid === null ? "" : `, pid ${pid}`}, ${restarts} restarts`,
            ])}
          />
          {status.state === "stopped" ? (
            ""
          ) : (
            <p>
              <a class="button" href={ROUTES.restartPage.path}>
                Restart the gateway
              </a>
            </p>
          )}
        </section>
      </div>
      {access === undefined ? "" : approvedPart(access, now)}
    </>
  );
}

/** Renders what is wrong, the worst first, each with the page that helps. */
function problemsPart(problems: readonly Problem[]): Markup | "" {
  if (problems.length === 0) return "";
  return (
    <section aria-label="Problems">
      {problems.map(({ title, reason, action }) => (
        <aside>
          <h3>{title}</h3>
          {reason === undefined ? "" : <ReasonText reason={reason} />}
          <p>
            <a class="button primary" href={action.path}>
              {action.label}
            </a>
          </p>
        </aside>
      ))}
    </section>
  );
}

function unknownAccess(): Markup {
  return (
    <>
      <h2>Access</h2>
      <p class="soft">
        Available once the container has run: <a href={ROUTES.devicesPage.path}>open the list</a>.
      </p>
    </>
  );
}

/** Returns the hours awake, which the cost depends on. */
function awakeText({ measuredHours, awakeHours }: Duty): string {
  if (measuredHours < SHORTEST_DUTY_HOURS) return "available after 24 h";
  return `${awakeHours.toFixed(1)} hours a day, ${measuredOver(measuredHours)}`;
}

/** One name where edge and container run from the same bundle, as on a host. */
function bundlePart(edge: string, container: string | undefined): Markup {
  if (edge === container) return <code>{edge}</code>;
  return (
    <>
      <code>{edge}</code>, container{" "}
      {container === undefined ? "unknown while it is stopped" : <code>{container}</code>}
    </>
  );
}

/** Renders when the newest one was made. */
export function lastBackup({ value }: Attempt<BackupsStatus>, now: number): Markup | string {
  if (value === undefined) return "unknown";
  return value.lastAt === undefined ? "none yet" : <Age at={Date.parse(value.lastAt)} now={now} />;
}

/** Renders a note that the config is not the one that somebody wrote last. */
export function recoveredPart({ value }: Attempt<BackupsStatus>, now: number): Markup | "" {
  if (value?.recovered === undefined) return "";
  const { id, at } = value.recovered;
  return (
    <aside>
      <p>
        <strong>The config file was not valid at a start</strong>, so the one of the backup <code>{id}</code>{" "}
        was restored automatically, <Age at={Date.parse(at)} now={now} />. The file that was not valid is kept
        beside it.
      </p>
      <p>
        <a href={ROUTES.configEdit.path}>Edit the configuration</a>
      </p>
    </aside>
  );
}

/** For example `99.8 % of 512 messages`. */
function withinMinute(report: FirstWordReport | undefined): string {
  if (report === undefined || report.count === 0) return "no message yet";
  const inTime = report.buckets.find(({ le }) => le === "60")?.count ?? 0;
  const share = ((inTime / report.count) * 100).toFixed(1).replace(/\.0$/, "");
  return `${share} % of ${report.count} ${report.count === 1 ? "message" : "messages"}`;
}

/** Channels, models and schedules. What is wrong with them is among the problems. */
function detailsPart({ channels, models, schedules, firstWords, counts }: GatewayStatus): Markup {
  return (
    <>
      <section class="card">
        <h2>Messages</h2>
        <Facts
          facts={[
            ["Kept", `${counts.messages}, ${counts.webChat ?? 0} of the web chat`],
            ["First word within a minute", withinMinute(firstWords)],
          ]}
        />
      </section>
      <section class="card">
        <h2>Channels</h2>
        {channels.length === 0 ? <p class="soft">None is configured.</p> : ""}
        <Facts
          facts={channels.map(({ platform, state, lastEventAt }) => [
            platform,
            lastEventAt === undefined ? (
              state
            ) : (
              <>
                {state}, last event <Moment at={lastEventAt} />
              </>
            ),
          ])}
        />
      </section>
      <section class="card">
        <h2>Models</h2>
        <Facts
          facts={models.map(({ id, state, until }) => [
            id,
            until === undefined ? (
              state
            ) : (
              <>
                {state} until <Moment at={until} />
              </>
            ),
          ])}
        />
      </section>
      <section class="card">
        <h2>Schedules</h2>
        <Facts
          facts={[
            ["Scheduled", schedules.count],
            ["Next", schedules.nextAt === undefined ? "none" : <Moment at={schedules.nextAt} />],
            ["Missed (7 days)", schedules.missed],
            ["Failed (7 days)", schedules.failed ?? 0],
          ]}
        />
      </section>
    </>
  );
}
