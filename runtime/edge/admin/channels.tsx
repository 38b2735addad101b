import {
  type BrokerCounts,
  type ChannelHealth,
  type ChannelTest,
  type ContractArea,
  type ContractFinding,
  GATEWAY_ROUTES,
  type GatewayStatus,
  type ToolServerHealth,
} from "../../contract/control.ts";
import { type Platform, PLATFORM_TITLES, platformSchema } from "../../contract/delivery.ts";
import { type Reason, StewardError } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import { modelCards } from "./models.tsx";
import { readChannelHealth } from "../container-answers.ts";
import { readFields } from "../form.ts";
import { attempt } from "../operate.ts";
import type { Sandbox } from "../ports.ts";
import { adminPage, statusOf } from "../ui/console.tsx";
import { Age } from "../ui/time.tsx";
import { AlertBox, ReasonBox, Unreached } from "../ui/state.tsx";
import { LinkLine, type Markup } from "../ui/document.tsx";
import { ActionButton } from "../ui/form.tsx";
import { Facts, Table } from "../ui/table.tsx";
import { LIMIT_MS } from "./answers.ts";
import { recordChange } from "./change.ts";
import type { AdminOptions, PageContext } from "./options.ts";

const PLATFORM = new RegExp(`^(?:${platformSchema.options.join("|")})$`);

const CHANNEL_STATES: Record<ChannelHealth["state"], [tone: string, words: string]> = {
  unknown: ["wait", "Not checked yet"],
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

/** `POST /_admin/channels/test`, field `platform`: asks the platform who the bot is. Sends no message. */
export async function testChannel(context: PageContext, options: AdminOptions): Promise<Response> {
  const { platform } = await readFields(context.req.raw, { platform: PLATFORM });
  await recordChange(context, options, { action: "channel", detail: platform });
  const begunAt = options.clock();
  const body = JSON.stringify({ platform } satisfies Record<keyof ChannelTest, string>);
  const { value, problem } = await attempt(LIMIT_MS, askChannel(options.sandbox, body));
  const ms = options.clock() - begunAt;
  return showChannels(context, options, { ms, health: value, problem: problem ?? value?.reason });
}

async function askChannel(sandbox: Sandbox, body: string): Promise<ChannelHealth> {
  const response = await sandbox.request("gateway", {
    method: "POST",
    path: GATEWAY_ROUTES.testChannel,
    body,
  });
  if (!response.ok) throw new StewardError("gateway_unavailable", "The gateway did not test the channel.");
  return readChannelHealth(response);
}

interface Tested {
  ms: number;
  health: ChannelHealth | undefined;
  problem: Reason | undefined;
}

/** `GET /_admin/channels`: the state of the chat platforms. Does not wake the container. */
export async function showChannels(
  context: PageContext,
  { clock }: AdminOptions,
  tested?: Tested,
): Promise<Response> {
  const { facts, asOf, problem } = await context.get("visitor")();
  const { status, details } = facts;

  const content = (
    <>
      {testPart(tested)}
      {details === undefined ? (
        <Unreached status={status} reason={problem ?? status.reason}>
          Channel status is available once the gateway has run.
        </Unreached>
      ) : (
        detailsPart(details, clock())
      )}
      {operationsPart(status.broker)}
    </>
  );
  const frame = { title: "Channels", asOf, waits: tested === undefined };
  return adminPage(context, frame, content, statusOf(tested?.problem));
}

function testPart(tested: Tested | undefined): Markup | null {
  if (tested === undefined) return null;
  const { ms, health, problem } = tested;
  if (problem !== undefined || health === undefined) return <AlertBox reason={problem} />;
  return (
    <aside class="done" role="status">
      <p>
        {PLATFORM_TITLES[health.platform]} answered after {ms} ms: the token belongs to {botName(health.bot)}.
        No message was sent.
      </p>
    </aside>
  );
}

function botName(bot: ChannelHealth["bot"]): Markup | string {
  if (bot?.name === undefined) return bot?.id ?? "a bot without a name";
  return (
    <strong title={bot.id}>
      <bdi>@{bot.name}</bdi>
    </strong>
  );
}

function detailsPart({ channels, models, servers = [], findings = [] }: GatewayStatus, now: number): Markup {
  return (
    <>
      {channels.length === 0 && (
        <p class="soft">
          No channel is configured: <a href={ROUTES.configEdit.path}>add one to the config</a>.
        </p>
      )}
      <ul class="cards">{channels.map((one) => channelCard(one, now))}</ul>
      <h2>Models that answer</h2>
      {modelCards(models)}
      <LinkLine href={ROUTES.modelsPage.path}>Prices and tests</LinkLine>
      {servers.length > 0 && (
        <>
          <h2>Tool servers</h2>
          <ul class="cards">{servers.map(serverCard)}</ul>
        </>
      )}
      {findings.length > 0 && findingsPart(findings, now)}
    </>
  );
}

function serverCard({ name, state, tools, leftOut, problem }: ToolServerHealth): Markup {
  const [tone, words] = CHANNEL_STATES[state];
  return (
    <li>
      <h3>{name}</h3>
      <p class={`state ${tone}`}>{words}</p>
      {problem !== undefined && <p>{problem}</p>}
      <Facts
        facts={[
          ["Tools", state === "ready" ? `${tools}` : undefined],
          ...leftOut.map((tool): [string, string] => ["Left out", `${tool.name}: ${tool.problem}`]),
        ]}
      />
    </li>
  );
}

function findingsPart(findings: readonly ContractFinding[], now: number): Markup {
  return (
    <>
      <h2>Not understood</h2>
      <p class="soft">
        Parts of messages, tools and answers that this version does not support.{" "}
        <code>steward contract --json</code> shows the structure of a sample of each, without text, for a bug
        report.
      </p>
      <Table
        label="Not understood"
        columns={[
          { head: "From", cell: ({ area }) => AREAS[area] },
          { head: "What", kind: "name", cell: ({ what }) => what },
          { head: "Count", kind: "number", cell: ({ count }) => count },
          { head: "Last", cell: ({ lastAt }) => <Age at={lastAt} now={now} /> },
        ]}
        rows={findings}
      />
    </>
  );
}

function operationsPart(broker: BrokerCounts | undefined): Markup | string {
  const rows = Object.entries(broker?.operations ?? {}).sort(([a], [b]) => a.localeCompare(b));
  if (broker === undefined || rows.length === 0) return "";
  return (
    <>
      <h2>Requests to services</h2>
      <p class="soft">
        Since the start. Requests without an operation or without a valid pass: {unnamed(broker)} refused.
      </p>
      <Table
        label="Requests by operation"
        columns={[
          { head: "Operation", kind: "name", cell: ([name]) => name },
          { head: "Answered", kind: "number", cell: ([, { answered }]) => answered },
          { head: "Failed", kind: "number", cell: ([, { failed }]) => failed },
          { head: "Refused", kind: "number", cell: ([, { refused }]) => refused },
        ]}
        rows={rows}
      />
    </>
  );
}

function unnamed({ refused, operations }: BrokerCounts): number {
  return Object.values(operations).reduce((rest, one) => rest - one.refused, refused);
}

/** Per platform, the label for the time of its last response to a poll or heartbeat. */
const FETCHED: Partial<Record<Platform, string>> = {
  telegram: "Last successful poll",
  discord: "Last acknowledged heartbeat",
};

function channelCard(health: ChannelHealth, now: number): Markup {
  const { platform, state, reason, lastEventAt, polledAt, bot } = health;
  const [tone, words] = CHANNEL_STATES[state];
  return (
    <li>
      <h2>{PLATFORM_TITLES[platform]}</h2>
      <p class={`state ${tone}`}>{words}</p>
      <ReasonBox reason={reason} />
      <Facts
        facts={[
          [
            "Last event",
            lastEventAt === undefined ? "none since the start" : <Age at={lastEventAt} now={now} />,
          ],
          ["Bot", bot && botFact(bot, now)],
          [FETCHED[platform] ?? "", polledAt && <Age at={polledAt} now={now} />],
        ]}
      />
      {state !== "disabled" && (
        <ActionButton
          action={ROUTES.channelsTest.path}
          value={["platform", platform]}
          label={`Test ${PLATFORM_TITLES[platform]}`}
        >
          Test
        </ActionButton>
      )}
    </li>
  );
}

function botFact(bot: NonNullable<ChannelHealth["bot"]>, now: number): Markup {
  return (
    <>
      {botName(bot)}, checked <Age at={bot.at} now={now} />
    </>
  );
}
