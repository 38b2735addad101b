import type { Handler } from "hono";
import type { ModelUsage, SandboxStatus, UsageReport, ModelPrice } from "../../contract/control.ts";
import type { Reason } from "../../contract/errors.ts";
import { PRICES_SOURCE } from "../../shared/prices.ts";
import type { AccessVariables } from "../access.ts";
import { gatewayUsage } from "../debug-routes.ts";
import { adminPage } from "../ui/console.tsx";
import { BarChart, CellBar } from "../ui/chart.tsx";
import { ReasonBox, RepairLink, StateLine } from "../ui/state.tsx";
import type { Markup } from "../ui/document.tsx";
import { askOrRecall } from "./answers.ts";
import { PlainTable } from "../ui/table.tsx";
import type { AdminOptions } from "./options.ts";

/** Tokens that a price is for. */
const PRICED_TOKENS = 1_000_000;

/** `GET /_admin/usage`: messages, tokens and what they cost, as the gateway counts them; wakes nothing. */
export function showUsage({ sandbox, answers }: AdminOptions): Handler<AccessVariables> {
  return async function handleUsage(context) {
    const visitor = await context.get("visitor")();
    const ask = () => gatewayUsage(sandbox);
    const { value, asOf, problem } = await askOrRecall(answers, visitor, "usage", ask);
    const { status } = visitor.facts;
    const content = value === undefined ? downPart(status, problem ?? status.reason) : reportPart(value);
    return adminPage(context, { title: "Usage", asOf, waits: true }, content);
  };
}

function downPart(status: SandboxStatus, why: Reason | undefined): Markup {
  return (
    <>
      <StateLine status={status} />
      <ReasonBox reason={why} />
      <RepairLink reason={status.reason} />
      <p class="soft">Usage is available once the gateway has run.</p>
    </>
  );
}

function reportPart(report: UsageReport): Markup {
  const { days, models } = report;
  const byDay = totals(report, days, ({ day }) => day);
  const names = [...new Set(models.map(({ model }) => model))].sort();
  const byModel = totals(report, names, ({ model }) => model);
  const unpriced = byModel.filter(([, { cost }]) => cost === undefined).map(([model]) => model);
  const said = new Map(report.messages.map((one) => [one.day, one]));
  const chart = { labelled: "Day (UTC)", labels: days };
  return (
    <>
      <p>The last {days.length} days, in UTC.</p>
      <h2>By day</h2>
      <BarChart
        {...chart}
        title="Messages"
        format={whole}
        series={[
          { name: "Received", values: days.map((day) => said.get(day)?.received ?? 0) },
          { name: "Answered", values: days.map((day) => said.get(day)?.answered ?? 0) },
        ]}
      />
      <BarChart
        {...chart}
        title="Tokens"
        format={whole}
        series={[
          { name: "In", values: byDay.map(([, total]) => total.inputTokens) },
          { name: "Out", values: byDay.map(([, total]) => total.outputTokens) },
        ]}
      />
      <BarChart
        {...chart}
        title="Requests to models"
        format={whole}
        series={[{ name: "Requests", values: byDay.map(([, total]) => total.requests) }]}
      />
      <BarChart
        {...chart}
        title="Estimated cost"
        format={dollars}
        least={0.02}
        series={[{ name: "US dollars", values: byDay.map(([, total]) => total.cost) }]}
      />
      <h2>By model</h2>
      {byModel.length === 0 ? <p class="soft">No model requests yet.</p> : modelTable(byModel)}
      <p class="soft">
        The cost is an estimate: tokens at the base prices that{" "}
        <a href={PRICES_SOURCE.url}>Anthropic published</a> ({PRICES_SOURCE.month}), or at those of{" "}
        <code>models.prices</code> in the config.{" "}
        {unpriced.length === 0 ? "" : `No sum holds what has no known price: ${unpriced.join(", ")}.`}
      </p>
    </>
  );
}

function modelTable(rows: readonly [model: string, total: Total][]): Markup {
  const most = (read: (total: Total) => number): number => Math.max(...rows.map(([, total]) => read(total)));
  const tokensIn = most(({ inputTokens }) => inputTokens);
  const tokensOut = most(({ outputTokens }) => outputTokens);
  const requests = most((total) => total.requests);
  const cost = most((total) => total.cost ?? 0);
  return (
    <PlainTable
      label="Usage by model"
      caption="Requests, tokens and estimated cost by model"
      columns={[
        "Model",
        { number: "Requests" },
        { number: "Tokens in" },
        { number: "Tokens out" },
        { number: "Cost" },
      ]}
      rows={rows.map(([model, total]) => (
        <tr>
          <th scope="row">{model}</th>
          {figure(total.requests, requests)} {figure(total.inputTokens, tokensIn)}{" "}
          {figure(total.outputTokens, tokensOut)}
          {total.cost === undefined ? (
            <td class="number soft">no price known</td>
          ) : (
            <td class="number">
              {dollars(total.cost)}
              <CellBar value={total.cost} most={cost} />
            </td>
          )}
        </tr>
      ))}
    />
  );
}

function figure(value: number, most: number): Markup {
  return (
    <td class="number">
      {whole(value)}
      <CellBar value={value} most={most} />
    </td>
  );
}

function whole(value: number): string {
  return value.toLocaleString("en-US");
}

/** Cents, and where that would be nothing as much as it takes to see that it is not. */
function dollars(value: number): string {
  return value > 0 && value < 0.01 ? "under $0.01" : `$${value.toFixed(2)}`;
}

/** Outcome of several requests. */
interface Total {
  requests: number;
  inputTokens: number;
  outputTokens: number;
  /** US dollars, of those with a known price; `undefined` where none has one. */
  cost: number | undefined;
}

/** The total of each key, in the keys' order. */
function totals(
  { models, prices }: Pick<UsageReport, "models" | "prices">,
  keys: readonly string[],
  keyOf: (one: ModelUsage) => string,
): [key: string, total: Total][] {
  return keys.map((key) => {
    const own = models.filter((one) => keyOf(one) === key);
    const sum = (read: (one: ModelUsage) => number): number =>
      own.reduce((total, one) => total + read(one), 0);
    const costs = own.flatMap((one) => costOf(one, prices[one.model]));
    const known = costs.length > 0 || own.length === 0;
    return [
      key,
      {
        requests: sum(({ requests }) => requests),
        inputTokens: sum(({ inputTokens }) => inputTokens),
        outputTokens: sum(({ outputTokens }) => outputTokens),
        cost: known ? costs.reduce((total, cost) => total + cost, 0) : undefined,
      },
    ];
  });
}

function costOf({ inputTokens, outputTokens }: ModelUsage, price: ModelPrice | undefined): number[] {
  if (price === undefined) return [];
  return [(inputTokens * price.input + outputTokens * price.output) / PRICED_TOKENS];
}
