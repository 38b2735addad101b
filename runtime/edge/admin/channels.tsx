import type { Handler } from "hono";
import type {
  BrokerCounts,
  ChannelHealth,
  ContractArea,
  ContractFinding,
  GatewayStatus,
  SandboxStatus,
  ToolServerHealth,
} from "../../contract/control.ts";
import type { Platform } from "../../contract/delivery.ts";
import type { Reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { modelCards } from "./models.tsx";
import { adminPage } from "../ui/console.tsx";
import { Age } from "../ui/time.tsx";
import { ReasonBox, RepairLink, StateLine } from "../ui/state.tsx";
import type { Markup } from "../ui/document.tsx";
import { PlainTable, Facts } from "../ui/table.tsx";
import type { AdminOptions } from "./options.ts";

/** Colour and label of each state. */
const CHANNEL_STATES: Record<ChannelHealth["state"], [tone: string, words: string]> = {
  unknown: ["wait", "Not asked yet"],
  ready: ["ok", "Ready"],
  failing: ["bad", "Failing"],
  disabled: ["wait", "Switched off"],
};

const AREAS: Record<ContractArea, string> = {
  message: "A message",
  tool: "A tool",
  stream: "A model's stream",
  answer: "A platform's answer",
};

/** `GET /_admin/channels`: the state of the chat platforms, as reported by the gateway. Does not wake the container. */
export function showChannels({ clock }: AdminOptions): Handler<AccessVariables> {
  return async function handleChannels(context) {
    const { facts, asOf, problem } = await context.get("visitor")();
    const { status, details } = facts;
    const why = problem ?? status.reason;
    const content = (
      <>
        {details === undefined ? downPart(status, why) : detailsPart(details, clock())}
        {operationsPart(status.broker)}
      </>
    );
    return adminPage(context, { title: "Channels", asOf, waits: true }, content);
  };
}

function downPart(status: SandboxStatus, why: Reason | undefined): Markup {
  return (
    <>
      <StateLine status={status} />
      <ReasonBox reason={why} />
      <RepairLink reason={status.reason} />
      <p class="soft">Channel status is available once the gateway has run.</p>
    </>
  );
}

function detailsPart({ channels, models, servers = [], findings = [] }: GatewayStatus, now: number): Markup {
  const none = (
    <p class="soft">
      None is configured: <a href={ROUTES.configEdit.path}>add one to the config</a>.
    </p>
  );
  return (
    <>
      {channels.length === 0 ? none : ""}
      <ul class="cards">{channels.map((one) => channelCard(one, now))}</ul>
      <h2>Models that answer</h2>
      {modelCards(models)}
      <p>
        <a href={ROUTES.modelsPage.path}>Prices and tests</a>
      </p>
      {serversPart(servers)} {findingsPart(findings, now)}
    </>
  );
}

function serversPart(servers: readonly ToolServerHealth[]): Markup | string {
  if (servers.length === 0) return "";
  return (
    <>
      <h2>Tool servers</h2>
      <ul class="cards">{servers.map(serverCard)}</ul>
    </>
  );
}

/** Shows one MCP server. If it fails, only its own tools are missing. */
function serverCard({ name, state, tools, leftOut, problem }: ToolServerHealth): Markup {
  const [tone, words] = CHANNEL_STATES[state];
  return (
    <li>
      <h3>{name}</h3>
      <p class={`state ${tone}`}>{words}</p>
      {problem === undefined ? "" : <p>{problem}</p>}
      <Facts
        facts={[
          ["Tools", state === "ready" ? `${tools}` : undefined],
          ...leftOut.map((tool): [string, string] => ["Left out", `${tool.name}: ${tool.problem}`]),
        ]}
      />
    </li>
  );
}

/** Lists what was not understood. People in chats are not told about it. */
function findingsPart(findings: readonly ContractFinding[], now: number): Markup | string {
  if (findings.length === 0) return "";
  return (
    <>
      <h2>Not understood</h2>
      <p class="soft">
        Parts of messages, tools and answers that this version does not know.{" "}
        <code>steward contract --json</code> shows the structure of a sample of each, without text, for a bug
        report.
      </p>
      <PlainTable
        label="Not understood"
        columns={["From", "What", { number: "Count" }, "Last"]}
        rows={findings.map(({ area, what, count, lastAt }) => (
          <tr>
            <td>{AREAS[area]}</td>
            <th scope="row">{what}</th>
            <td class="number">{count}</td>
            <td>
              <Age at={Date.parse(lastAt)} now={now} />
            </td>
          </tr>
        ))}
      />
    </>
  );
}

/** Counts the gateway's requests to the broker. */
function operationsPart(broker: BrokerCounts | undefined): Markup | string {
  const rows = Object.entries(broker?.operations ?? {}).sort(([a], [b]) => a.localeCompare(b));
  if (broker === undefined || rows.length === 0) return "";
  return (
    <>
      <h2>Requests to services</h2>
      <p class="soft">
        Since the start. Requests without an operation or without a valid pass: {unnamed(broker)} refused.
      </p>
      <PlainTable
        label="Requests by operation"
        columns={["Operation", { number: "Answered" }, { number: "Failed" }, { number: "Refused" }]}
        rows={rows.map(([name, { answered, failed, refused }]) => (
          <tr>
            <th scope="row">{name}</th>
            <td class="number">{answered}</td>
            <td class="number">{failed}</td>
            <td class="number">{refused}</td>
          </tr>
        ))}
      />
    </>
  );
}

function unnamed({ refused, operations }: BrokerCounts): number {
  return Object.values(operations).reduce((rest, one) => rest - one.refused, refused);
}

/** Labels of the time at which a platform last responded to the process that fetches its events. */
const FETCHED: Partial<Record<Platform, string>> = {
  telegram: "Last successful poll",
  discord: "Last acknowledged heartbeat",
};

function channelCard({ platform, state, reason, lastEventAt, polledAt }: ChannelHealth, now: number): Markup {
  const [tone, words] = CHANNEL_STATES[state];
  return (
    <li>
      <h3>{platform}</h3>
      <p class={`state ${tone}`}>{words}</p>
      <ReasonBox reason={reason} />
      <Facts
        facts={[
          [
            "Last event",
            lastEventAt === undefined ? (
              "none since the start"
            ) : (
              <Age at={Date.parse(lastEventAt)} now={now} />
            ),
          ],
          [FETCHED[platform] ?? "", polledAt && <Age at={Date.parse(polledAt)} now={now} />],
        ]}
      />
    </li>
  );
}
