import type { FirstWordReport, UsageReport } from "../../contract/control.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Visitor } from "../access.ts";
import { gatewayUsage, listProcesses } from "../debug-routes.ts";
import type { HealthProblem } from "../health.ts";
import { namesOf } from "../ledger-routes.ts";
import { attempt } from "../operate.ts";
import type { LedgerEntry } from "../ports.ts";
import { FORMATS, Sparkline } from "../ui/chart.tsx";
import { adminPage, asOfPart } from "../ui/console.tsx";
import { LinkLine, type Markup } from "../ui/document.tsx";
import { type Names, Person } from "../ui/person.tsx";
import { ReasonBox, ReasonText, StateLine } from "../ui/state.tsx";
import { Age } from "../ui/time.tsx";
import { askOrRecall } from "./answers.ts";
import { recoveredPart } from "./backups.tsx";
import { knownAccess, waitingKeys, waitingPart } from "./devices.tsx";
import { AnswerHere, countsPart } from "./ledger.tsx";
import type { AdminOptions, PageContext } from "./options.ts";
import {
  backupsCard,
  browsersCard,
  conversationsCard,
  schedulesCard,
  FEW,
  gatewayCard,
  servicesCard,
} from "./overview-cards.tsx";
import { addressOf, inOrder } from "./schedule-table.tsx";
import { knownSchedules } from "./schedules.tsx";
import { knownSessions, placeOf } from "./sessions.tsx";
import { totals } from "./usage.tsx";

const LIMIT_MS = 3_000;
/** Maximum number of ignored and of answered messages to read when looking for groups without answers. */
const IGNORED = 50;
const SILENT_MS = 7 * 24 * 60 * 60_000;
/**
 * Maximum age in milliseconds of stored lists that the overview reuses. A new list starts a process in the container.
 */
const RECENT_MS = 10_000;
/** Facts that prevent requests to the container. */
const DOWN = { status: { state: "stopped", since: "", restarts: 0 } } as const;
const SILENT = 6;
const DUE = 3;

/** `GET /_admin/`: health, today's activity and open tasks. Does not wake the container. */
export async function showOverview(context: PageContext, options: AdminOptions): Promise<Response> {
  const visitor = await context.get("visitor")();
  const { facts, health, backups } = visitor;
  const now = options.clock();
  const { access, usage, silent, talks, due, verified, processes, names } = await read(options, visitor, now);
  const { value: list, problem } = access;
  const isWaiting = list !== undefined && list.senders.length + list.requests.length > 0;
  const content = (
    <>
      <StateLine status={facts.status} overall={health.overall} />
      <Problems problems={health.problems} />
      {recoveredPart(backups, now)}
      {usage && todayPart(usage, facts.details?.firstWords)}
      {facts.counts && countsPart(facts.counts)}
      <ReasonBox reason={problem} />
      {list === undefined && (
        <p class="soft">
          Requests for access are available once the container has run.{" "}
          <a href={ROUTES.devicesPage.path}>Open the list</a>
        </p>
      )}
      {list && (isWaiting || list.problem || problem) && (
        <>
          {asOfPart(access.asOf)}
          {waitingPart(list, names, now)}
        </>
      )}
      {silentPart(silent, names, now)}
      <div class="grid">
        {conversationsCard(talks, names, now)}
        {schedulesCard(due, names)}
        {browsersCard(list, now)}
        {servicesCard(facts.details)}
        {backupsCard(backups, verified, now)}
        {gatewayCard(facts.status, options.bundle, processes, now)}
      </div>
    </>
  );
  return adminPage(context, { title: "Overview", asOf: visitor.asOf, waits: true }, content);
}

/** Loads the overview's data. Parts that take too long are omitted. */
async function read(options: AdminOptions, visitor: Visitor, now: number) {
  const { sandbox, answers, ledger, directory, activity } = options;
  // While the gateway crashes repeatedly, only a few processes may run concurrently. Start one only for the access
  // requests, and use stored answers for the other lists.
  const calm = visitor.facts.status.state === "crash-looping" ? { ...visitor, facts: DOWN } : visitor;
  const recent = { ...calm, reuseAfter: calm.reuseAfter ?? now - RECENT_MS };
  const events = (state: "ignored" | "answered") =>
    attempt(LIMIT_MS, ledger.list({ state, since: now - SILENT_MS, limit: IGNORED }));
  // At most three operations run at once, so that the container does not refuse the operator's next one.
  const lists = async () => {
    const access = await knownAccess(options, visitor, LIMIT_MS);
    const then = access.problem ? { ...recent, facts: DOWN } : recent;
    const [sessions, plans] = await Promise.all([
      knownSessions(options, then, LIMIT_MS),
      knownSchedules(options, then, LIMIT_MS),
    ]);
    return { access, sessions, plans };
  };
  const [processes, { access, sessions, plans }, usage, ignored, answered, verified] = await Promise.all([
    attempt(LIMIT_MS, listProcesses(sandbox, false)),
    lists(),
    askOrRecall(answers, visitor, "usage", () => gatewayUsage(sandbox), { limitMs: LIMIT_MS }),
    events("ignored"),
    events("answered"),
    attempt(LIMIT_MS, activity.activity(1, ["verify"])),
  ]);
  const silent = silentGroups(ignored.value?.entries ?? [], answered.value?.entries ?? []);
  const talks = (sessions.value?.sessions ?? []).slice(0, FEW);
  const due = inOrder(plans.value?.schedules ?? [])
    .filter(({ nextAt }) => nextAt !== null)
    .slice(0, DUE);
  const places = [
    ...silent.flatMap(({ place }) => place ?? []),
    ...talks.map(({ conversation }) => placeOf(conversation)),
    ...waitingKeys(access.value),
    ...due.map(addressOf),
  ];
  return {
    processes: processes.value?.processes,
    access,
    usage: usage.value,
    silent,
    talks,
    due,
    verified: verified.value?.[0],
    names: await namesOf(directory, places),
  };
}

/** Returns the newest ignored message of each unlisted group, unless a later message there was answered. */
function silentGroups(ignored: readonly LedgerEntry[], answered: readonly LedgerEntry[]): LedgerEntry[] {
  const groups = new Map<string, LedgerEntry>();
  for (const entry of ignored) {
    const { platform, group, place, receivedAt } = entry;
    const isOver = answered.some(
      (one) => place !== undefined && one.place === place && (one.settledAt ?? "") > receivedAt,
    );
    const key = `${platform}:${group}`;
    if (group !== undefined && !isOver && !groups.has(key)) groups.set(key, entry);
  }
  return [...groups.values()];
}

function Problems({ problems }: { problems: readonly HealthProblem[] }): Markup | null {
  if (problems.length === 0) return null;
  return (
    <section aria-label="Problems">
      {problems.map(({ title, reason, action }, index) => (
        <aside>
          <h2>{title}</h2>
          {reason && <ReasonText reason={reason} />}
          <LinkLine look={index === 0 ? "button primary" : "button"} href={action.path}>
            {action.label}
          </LinkLine>
        </aside>
      ))}
    </section>
  );
}

function todayPart(
  { days, messages, models, prices }: UsageReport,
  firstWords: FirstWordReport | undefined,
): Markup {
  const byDay = new Map(messages.map((one) => [one.day, one]));
  const costs = totals(models, prices, ({ day }) => day);
  const series = (read: (day: string) => number | undefined) => days.map((day) => read(day) ?? 0);
  const figures = [
    ["Messages today", series((day) => byDay.get(day)?.received), FORMATS.count],
    ["Answers today", series((day) => byDay.get(day)?.answered), FORMATS.count],
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

function withinMinute(report: FirstWordReport | undefined): string {
  if (report === undefined || report.count === 0) return "–";
  const inTime = report.buckets.find(({ le }) => le === "60")?.count ?? 0;
  return `${((inTime / report.count) * 100).toFixed(1).replace(/\.0$/, "")} %`;
}

function silentPart(entries: readonly LedgerEntry[], names: Names, now: number): Markup | null {
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
                Last message <Age at={receivedAt} now={now} />
              </p>
              <AnswerHere platform={platform} group={group} from={ROUTES.admin.path} />
            </li>
          ))}
      </ul>
      {entries.length > SILENT && (
        <LinkLine href={`${ROUTES.ledgerPage.path}?state=ignored`}>All ignored events</LinkLine>
      )}
    </section>
  );
}
