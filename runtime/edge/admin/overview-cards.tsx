import type { GatewayStatus, ProcessInfo, SandboxStatus } from "../../contract/control.ts";
import { type Duty, formatSpan, SHORTEST_DUTY_HOURS } from "../../contract/duty.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Attempt } from "../operate.ts";
import type { ActivityEntry, BackupsStatus } from "../ports.ts";
import { Card, LinkLine, type Markup } from "../ui/document.tsx";
import { type Names, Person } from "../ui/person.tsx";
import { Starts } from "../ui/starts.tsx";
import { Facts } from "../ui/table.tsx";
import { Age, Moment, TimeAfter } from "../ui/time.tsx";
import type { AccessList } from "./access-list.ts";
import { lastBackup } from "./backups.tsx";
import type { ScheduleRow } from "./schedule-form.tsx";
import { addressOf, excerpt, NextRun, Times } from "./schedule-table.tsx";
import { placeOf, type SessionRow } from "./sessions.tsx";

export const FEW = 5;

export function backupsCard(
  backups: Attempt<BackupsStatus>,
  verified: ActivityEntry | undefined,
  now: number,
): Markup {
  return (
    <Card title="Backups">
      <LinkLine href={ROUTES.backupsPage.path}>Last backup: {lastBackup(backups, now)}</LinkLine>
      {backups.value?.lastAt !== undefined && (
        <form method="post" action={ROUTES.backupsVerify.path} class="row">
          {verified === undefined ? (
            <span>Not verified yet.</span>
          ) : (
            <span title={verified.detail}>
              Last verified: <Age at={verified.at} now={now} />, by {verified.by}.
            </span>
          )}
          <button name="id" value="newest" class="quiet">
            Verify the newest
          </button>
        </form>
      )}
    </Card>
  );
}

export function conversationsCard(rows: readonly SessionRow[], names: Names, now: number): Markup | null {
  if (rows.length === 0) return null;
  return (
    <Card title="Last conversations" href={ROUTES.sessionsPage.path}>
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
              <Age at={lastAt} now={now} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

export function schedulesCard(rows: readonly ScheduleRow[], names: Names): Markup | null {
  if (rows.length === 0) return null;
  return (
    <Card title="Next schedules" href={ROUTES.schedulesPage.path}>
      <ul class="plain">
        {rows.map((row) => (
          <li>
            <bdi class="cut" title={row.id}>
              {excerpt(row)}
            </bdi>
            <Person id={addressOf(row)} entry={names.get(addressOf(row))} />
            <span class="soft">
              <Times row={row} />, <NextRun row={row} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

export function browsersCard(access: AccessList | undefined, now: number): Markup | null {
  if (access === undefined) return null;
  const devices = access.devices.filter(({ revoked }) => !revoked);
  return (
    <Card title={`Browsers (${devices.length})`} href={ROUTES.devicesPage.path}>
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
    </Card>
  );
}

export function servicesCard(details: GatewayStatus | undefined): Markup | null {
  if (details === undefined) return null;
  const { channels, models } = details;
  return (
    <Card title="Channels and models">
      <Facts
        facts={[
          ...channels.map(({ platform, state, lastEventAt }): [string, Markup] => [
            platform,
            <>
              {state}
              <TimeAfter words=", last event" at={lastEventAt} />
            </>,
          ]),
          ...models.map(({ id, state, until }): [string, Markup] => [
            id,
            <>
              {state}
              <TimeAfter words=" until" at={until} />
            </>,
          ]),
        ]}
      />
    </Card>
  );
}

/**
 * Renders the container's state. `bundle` is the hash of the edge's bundle; `processes` is `undefined` if the container
 * does not answer.
 */
export function gatewayCard(
  status: SandboxStatus,
  bundle: string,
  processes: ProcessInfo[] | undefined,
  now: number,
): Markup {
  const coldStart = status.coldStartMs === undefined ? "unknown" : `${status.coldStartMs} ms`;
  return (
    <Card title="Gateway">
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
      <Starts starts={status.coldStarts ?? []} now={now} />
      {status.state !== "stopped" && (
        <LinkLine look="button" href={ROUTES.restartPage.path}>
          Restart the gateway
        </LinkLine>
      )}
    </Card>
  );
}

function awakeText({ measuredHours, awakeHours }: Duty): string {
  if (measuredHours < SHORTEST_DUTY_HOURS) return "available after 24 h";
  return `${awakeHours.toFixed(1)} hours a day, ${formatSpan(measuredHours)}`;
}

function bundlePart(edge: string, container: string | undefined): Markup {
  if (edge === container) return <code>{edge}</code>;
  return (
    <>
      <code>{edge}</code>, container{" "}
      {container === undefined ? "unknown while it is stopped" : <code>{container}</code>}
    </>
  );
}
