import type { Handler } from "hono";
import type * as z from "zod/mini";
import type { FirstWordReport, GatewayStatus, ProcessInfo, UsageReport } from "../../contract/control.ts";
import { type Duty, measuredOver, SHORTEST_DUTY_HOURS } from "../../contract/duty.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables, Visitor } from "../access.ts";
import { gatewayUsage, listProcesses } from "../debug-routes.ts";
import type { Problem } from "../health.ts";
import { namesOf } from "../ledger-routes.ts";
import { adminPage } from "../ui/console.tsx";
import { Age, Moment } from "../ui/time.tsx";
import { ReasonText, StateLine } from "../ui/state.tsx";
import type { Markup } from "../ui/document.tsx";
import { Starts } from "../ui/starts.tsx";
import { Facts } from "../ui/table.tsx";
import { type Names, Person } from "../ui/person.tsx";
import { FORMATS, Sparkline } from "../ui/chart.tsx";
import { schedules } from "../../operations/schedules.ts";
import type { BackupsStatus, LedgerEntry } from "../ports.ts";
import type { AccessList } from "./access-list.ts";
import { askOrRecall } from "./answers.ts";
import { attempt, type Attempt } from "../operate.ts";
import { knownAccess, waitingKeys, waitingPart } from "./devices.tsx";
import { AnswerHere, countsPart } from "./ledger.tsx";
import type { AdminOptions } from "./options.ts";
import { knownSchedules } from "./schedules.tsx";
import { knownSessions, placeOf, type SessionRow } from "./sessions.tsx";
import { totals } from "./usage.tsx";

/** The overview does not wait longer for what the container tells. */
const LIMIT_MS = 3_000;
/** Ignored messages among which silent groups are looked for, and how old they may be. */
const IGNORED = 50;
const SILENT_MS = 7 * 24 * 60 * 60_000;
/** Conversations and schedules of an answer so old are shown again: each question is a process in the container. */
const RECENT_MS = 10_000;
/** Facts of a container that is not asked. */
const DOWN = { status: { state: "stopped", since: "", restarts: 0 } } as const;
/** Silent groups that are shown. */
const SILENT = 6;
/** Rows of a card. */
const FEW = 5;

type Schedule = z.infer<ReturnType<typeof schedules.list.output>>["schedules"][number];

/** `GET /_admin/`: whether all is well, what happened today, and what the operator should do; wakes nothing. */
export function showOverview(options: AdminOptions): Handler<AccessVariables> {
  const { bundle, sandbox, answers, ledger, directory, clock } = options;
  return async function handleOverview(context) {
    const visitor = await context.get("visitor")();
    const now = clock();
    // Without the gateway each operation takes a process, and only a few may run at once. Requests for access come first.
    const calm = visitor.facts.status.state === "crash-looping" ? { ...visitor, facts: DOWN } : visitor;
    const recent = { ...calm, reuseAfter: calm.reuseAfter ?? now - RECENT_MS };
    const [processes, access, usage, talks, plans, ignored] = await Promise.all([
      attempt(LIMIT_MS, listProcesses(sandbox, false)),
      knownAccess(options, visitor, LIMIT_MS),
      askOrRecall(answers, visitor, "usage", () => gatewayUsage(sandbox), { limitMs: LIMIT_MS }),
      knownSessions(options, recent, LIMIT_MS),
      knownSchedules(options, recent, LIMIT_MS),
      attempt(LIMIT_MS, ledger.list({ state: "ignored", since: now - SILENT_MS, limit: IGNORED })),
    ]);
    const silent = silentGroups(ignored.value?.entries ?? []);
    const conversations = (talks.value?.sessions ?? []).slice(0, FEW);
    const due = (plans.value?.schedules ?? []).filter(({ nextAt }) => nextAt !== null).slice(0, FEW);
    const places = [
      ...silent.flatMap(({ place }) => place ?? []),
      ...conversations.map(({ conversation }) => placeOf(conversation)),
      ...waitingKeys(access.value),
      ...due.map(({ to }) => `${to.platform}:${to.chat}`),
    ];
    const names = await namesOf(directory, places);
    const told = {
      bundle,
      processes: processes.value?.processes,
      access: access.value,
      usage: usage.value,
      silent,
      conversations,
      due,
      names,
      now,
    };
    return adminPage(
      context,
      { title: "Overview", asOf: visitor.asOf, waits: true },
      <Overview visitor={visitor} {...told} />,
    );
  };
}

/** Returns the newest ignored message of each group that the config does not list. */
function silentGroups(entries: readonly LedgerEntry[]): LedgerEntry[] {
  const groups = new Map<string, LedgerEntry>();
  for (const entry of entries) {
    const key = `${entry.platform}:${entry.group}`;
    if (entry.group !== undefined && !groups.has(key)) groups.set(key, entry);
  }
  return [...groups.values()];
}

/** Content of the overview, beside what every page knows. */
interface OverviewProps {
  visitor: Visitor;
  /** The edge's. */
  bundle: string;
  /** The container's processes; empty while it is stopped, `undefined` if it does not answer. */
  processes: ProcessInfo[] | undefined;
  /** Requests for access, if known. */
  access: AccessList | undefined;
  usage: UsageReport | undefined;
  silent: readonly LedgerEntry[];
  conversations: readonly SessionRow[];
  /** The next schedules, the first due first. */
  due: readonly Schedule[];
  names: Names;
  now: number;
}

function Overview(props: OverviewProps): Markup {
  const { visitor, access, usage, silent, conversations, due, names, now } = props;
  const { facts, health, backups } = visitor;
  const isWaiting = access !== undefined && access.senders.length + access.requests.length > 0;
  return (
    <>
      <StateLine status={facts.status} overall={health.overall} />
      <Problems problems={health.problems} />
      {recoveredPart(backups, now)}
      <Today usage={usage} firstWords={facts.details?.firstWords} />
      {facts.counts && countsPart(facts.counts)}
      {access === undefined && <UnknownAccess />}
      {access && (isWaiting || access.problem) && waitingPart(access, names, now)}
      <SilentGroups entries={silent} names={names} now={now} />
      <div class="grid">
        <Conversations rows={conversations} names={names} now={now} />
        <Due rows={due} names={names} />
        <Browsers access={access} now={now} />
        <Services details={facts.details} />
        <section class="card">
          <h2>Backups</h2>
          <p>
            <a href={ROUTES.backupsPage.path}>Last backup: {lastBackup(backups, now)}</a>
          </p>
        </section>
        <GatewayCard {...props} />
      </div>
    </>
  );
}

/** Problems, the worst first, each with the page that helps. */
function Problems({ problems }: { problems: readonly Problem[] }): Markup | null {
  if (problems.length === 0) return null;
  return (
    <section aria-label="Problems">
      {problems.map(({ title, reason, action }, index) => (
        <aside>
          <h2>{title}</h2>
          {reason && <ReasonText reason={reason} />}
          <p>
            <a class={index === 0 ? "button primary" : "button"} href={action.path}>
              {action.label}
            </a>
          </p>
        </aside>
      ))}
    </section>
  );
}

/** Properties of {@link Today}. */
interface TodayProps {
  usage: UsageReport | undefined;
  firstWords: FirstWordReport | undefined;
}

/** Messages and cost of the day, each with the days before. */
function Today({ usage, firstWords }: TodayProps): Markup | null {
  if (usage === undefined) return null;
  const { days, messages, models, prices } = usage;
  const byDay = new Map(messages.map((one) => [one.day, one]));
  const costs = totals(models, prices, ({ day }) => day);
  const series = (read: (day: string) => number | undefined) => days.map((day) => read(day) ?? 0);
  const figures = [
    ["Messages today", series((day) => byDay.get(day)?.received), FORMATS.count],
    ["Answered today", series((day) => byDay.get(day)?.answered), FORMATS.count],
    ["Cost today", series((day) => costs.get(day)?.cost), FORMATS.dollars],
  ] as const;
  return (
    <dl class="stats today">
      {figures.map(([name, values, format]) => (
        <div>
          <dt>{name}</dt>
          <dd>{format(values.at(-1) ?? 0)}</dd>
          <dd>
            <Sparkline values={values} />
          </dd>
        </div>
      ))}
      <div>
        <dt>First word within a minute</dt>
        <dd>{withinMinute(firstWords)}</dd>
      </div>
    </dl>
  );
}

/** For example `99.8 %`. */
function withinMinute(report: FirstWordReport | undefined): string {
  if (report === undefined || report.count === 0) return "–";
  const inTime = report.buckets.find(({ le }) => le === "60")?.count ?? 0;
  return `${((inTime / report.count) * 100).toFixed(1).replace(/\.0$/, "")} %`;
}

function UnknownAccess(): Markup {
  return (
    <p class="soft">
      Requests for access: Available once the container has run.{" "}
      <a href={ROUTES.devicesPage.path}>Open the list</a>
    </p>
  );
}

/** Properties of {@link SilentGroups}. */
interface SilentGroupsProps {
  entries: readonly LedgerEntry[];
  names: Names;
  now: number;
}

/** Groups whose messages are ignored because the config does not list them. */
function SilentGroups({ entries, names, now }: SilentGroupsProps): Markup | null {
  if (entries.length === 0) return null;
  return (
    <section>
      <h2>Groups without answers</h2>
      <ul class="cards">
        {entries
          .slice(0, SILENT)
          .map(({ platform, group = "", place = `${platform}:${group}`, receivedAt }) => (
            <li>
              <Person id={place} entry={names.get(place)} />
              <p class="soft">
                Last message <Age at={Date.parse(receivedAt)} now={now} />
              </p>
              <AnswerHere platform={platform} group={group} from={ROUTES.admin.path} />
            </li>
          ))}
      </ul>
      {entries.length > SILENT && (
        <p>
          <a href={`${ROUTES.ledgerPage.path}?state=ignored`}>All ignored events</a>
        </p>
      )}
    </section>
  );
}

/** Properties of {@link Conversations}. */
interface ConversationsProps {
  rows: readonly SessionRow[];
  names: Names;
  now: number;
}

function Conversations({ rows, names, now }: ConversationsProps): Markup | null {
  if (rows.length === 0) return null;
  return (
    <section class="card">
      <h2>
        <a href={ROUTES.sessionsPage.path}>Last conversations</a>
      </h2>
      <ul class="plain">
        {rows.map(({ conversation, name, lastAt }) => (
          <li>
            <Person
              id={conversation}
              entry={names.get(placeOf(conversation))}
              otherwise={name}
              href={`${ROUTES.sessionPage.path}?${new URLSearchParams({ conversation })}`}
            />
            <span class="soft">
              <Age at={Date.parse(lastAt)} now={now} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Due({ rows, names }: { rows: readonly Schedule[]; names: Names }): Markup | null {
  if (rows.length === 0) return null;
  return (
    <section class="card">
      <h2>
        <a href={ROUTES.schedulesPage.path}>Next schedules</a>
      </h2>
      <ul class="plain">
        {rows.map(({ to, nextAt, text, prompt = "" }) => {
          const place = `${to.platform}:${to.chat}`;
          return (
            <li>
              <span>
                {nextAt !== null && <Moment at={nextAt} />} to <Person id={place} entry={names.get(place)} />
              </span>
              <bdi class="soft cut">{text ?? prompt}</bdi>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Browsers that have access to the web chat. */
function Browsers({ access, now }: { access: AccessList | undefined; now: number }): Markup | null {
  if (access === undefined) return null;
  const devices = access.devices.filter(({ revoked }) => !revoked);
  return (
    <section class="card">
      <h2>
        <a href={ROUTES.devicesPage.path}>Browsers ({devices.length})</a>
      </h2>
      {devices.length === 0 && <p class="soft">No browser is paired.</p>}
      <ul class="plain">
        {devices.slice(0, FEW).map(({ deviceId, name, approvedAt }) => (
          <li>
            <Person id={`web:${deviceId}`} entry={undefined} otherwise={name === "" ? "A browser" : name} />
            <span class="soft">
              approved <Age at={approvedAt} now={now} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Channels and models. Problems with them are among the problems. */
function Services({ details }: { details: GatewayStatus | undefined }): Markup | null {
  if (details === undefined) return null;
  const { channels, models } = details;
  return (
    <section class="card">
      <h2>Channels and models</h2>
      <Facts
        facts={[
          ...channels.map(({ platform, state, lastEventAt }): [string, Markup] => [
            platform,
            <>
              {state}
              {lastEventAt !== undefined && (
                <>
                  , last event <Moment at={lastEventAt} />
                </>
              )}
            </>,
          ]),
          ...models.map(({ id, state, until }): [string, Markup] => [
            id,
            <>
              {state}
              {until !== undefined && (
                <>
                  {" "}
                  until <Moment at={until} />
                </>
              )}
            </>,
          ]),
        ]}
      />
    </section>
  );
}

function GatewayCard({ visitor, bundle, processes, now }: OverviewProps): Markup {
  const { status } = visitor.facts;
  const coldStart = status.coldStartMs === undefined ? "unknown" : `${status.coldStartMs} ms`;
  return (
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
          ...(processes ?? []).map(({ name, state, pid, restarts }): [string, string] => [
            name,
            `${state}${pid === null ? "" : `, pid ${pid}`}, ${restarts} restarts`,
          ]),
        ]}
      />
      {processes === undefined && <p class="soft">Unknown: the container does not answer.</p>}
      <Starts starts={status.coldStarts} now={now} />
      {status.state !== "stopped" && (
        <p>
          <a class="button" href={ROUTES.restartPage.path}>
            Restart the gateway
          </a>
        </p>
      )}
    </section>
  );
}

/** Returns the hours awake, which the cost depends on. */
function awakeText({ measuredHours, awakeHours }: Duty): string {
  if (measuredHours < SHORTEST_DUTY_HOURS) return "available after 24 h";
  return `${awakeHours.toFixed(1)} hours a day, ${measuredOver(measuredHours)}`;
}

/** One name if edge and container run from the same bundle, as on a host. */
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
