import * as z from "zod/mini";
import {
  type ModelPrice,
  type ModelUsage,
  type SourceUsage,
  USAGE_RANGES,
  type UsageRange,
  type UsageReport,
} from "../../contract/control.ts";

import { ROUTES } from "../../contract/routes.ts";
import { PRICES_SOURCE } from "../../shared/prices.ts";
import { gatewayUsage } from "../debug-routes.ts";
import { namesOf } from "../ledger-routes.ts";
import { readQuery } from "../form.ts";
import { BarChart, CellBar, FORMATS } from "../ui/chart.tsx";
import { adminPage } from "../ui/console.tsx";
import type { Markup } from "../ui/document.tsx";
import { Unreached } from "../ui/state.tsx";
import { listingQuery } from "../ui/listing.tsx";
import { type Names, personColumn } from "../ui/person.tsx";
import { type Column, sorted, Table } from "../ui/table.tsx";
import { askOrRecall } from "./answers.ts";
import type { AdminOptions, PageContext } from "./options.ts";

const PRICED_TOKENS = 1_000_000;

const RANGE_NAMES: Record<UsageRange, string> = { day: "Today", week: "7 days", month: "30 days" };

const usageQuery = () =>
  z.object({
    range: z._default(z.enum(Object.keys(USAGE_RANGES) as UsageRange[]), "month"),
    sort: listingQuery().shape.sort,
  });

type UsageQuery = z.output<ReturnType<typeof usageQuery>>;

/** `GET /_admin/usage?range=&sort=`: messages, tokens and cost per UTC day. Does not wake the container. */
export async function showUsage(
  context: PageContext,
  { sandbox, answers, directory }: AdminOptions,
): Promise<Response> {
  const query = readQuery(context, usageQuery());
  const visitor = await context.get("visitor")();
  const ask = () => gatewayUsage(sandbox);
  const { value, asOf, problem } = await askOrRecall(answers, visitor, "usage", ask);
  const { status } = visitor.facts;
  const keys = new Set((value?.sources?.[query.range] ?? []).filter(({ id }) => id !== "").map(keyOf));
  const names = await namesOf(directory, [...keys]);
  const content =
    value === undefined ? (
      <Unreached status={status} reason={problem ?? status.reason}>
        Usage is available once the gateway has run.
      </Unreached>
    ) : (
      reportPart(value, query, names)
    );
  return adminPage(context, { title: "Usage", asOf, waits: true, scripts: ["usage.js"] }, content);
}

/** `GET /_admin/usage/export`: usage in the last 30 days as CSV. Does not wake the container. */
export async function exportUsage(
  context: PageContext,
  { sandbox, answers, directory }: AdminOptions,
): Promise<Response> {
  const visitor = await context.get("visitor")();
  const { value } = await askOrRecall(answers, visitor, "usage", () => gatewayUsage(sandbox));
  const names = await namesOf(directory, [...new Set((value?.sources?.month ?? []).map(keyOf))]);
  if (value === undefined) return context.redirect(ROUTES.usagePage.path, 303);
  context.header("content-disposition", 'attachment; filename="steward-usage.csv"');
  return context.body(csvOf(value, names), 200, { "content-type": "text/csv; charset=utf-8" });
}

const CSV_HEAD = "day,model,requests,tokens in,tokens out,cost in USD,received,answered,of,name,id";

function csvOf({ days, messages, models, prices, sources }: UsageReport, names: Names): string {
  const lines: (string | number)[][] = [CSV_HEAD.split(",")];
  for (const day of days) {
    const { received = 0, answered = 0 } = messages.find((one) => one.day === day) ?? {};
    lines.push([day, "", "", "", "", "", received, answered, "", "", ""]);
    for (const one of models.filter((model) => model.day === day)) {
      const cost = costOf(one, prices[one.model])?.toFixed(6) ?? "";
      lines.push([day, one.model, one.requests, one.inputTokens, one.outputTokens, cost, "", "", "", "", ""]);
    }
  }
  for (const one of sources?.month ?? []) {
    const [cost, key] = [costOf(one, prices[one.model])?.toFixed(6) ?? "", keyOf(one)];
    const who = key === ":" ? ["All others", ""] : [names.get(key)?.name ?? "", key];
    const figures = [one.model, one.requests, one.inputTokens, one.outputTokens, cost];
    lines.push([`${days[0]}/${days.at(-1)}`, ...figures, "", "", one.kind, ...who]);
  }
  return lines.map((line) => `${line.map(csvCell).join(",")}\r\n`).join("");
}

/** Quotes a value. A leading apostrophe prevents spreadsheets from running it as a formula. */
function csvCell(value: string | number): string {
  const text = String(value).replace(/^(?=[=+\-@\t\r])/, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function keyOf({ platform, id }: SourceUsage): string {
  return `${platform}:${id}`;
}

function reportPart(report: UsageReport, query: UsageQuery, names: Names): Markup {
  const { range, sort } = query;
  const days = report.days.slice(-USAGE_RANGES[range]);
  const models = report.models.filter(({ day }) => days.includes(day));
  const byDay = totals(models, report.prices, ({ day }) => day);
  const ofDays = days.map((day) => byDay.get(day) ?? { ...NOTHING, cost: 0 });
  const byModel = totals(models, report.prices, ({ model }) => model);
  const unpriced = [...byModel].filter(([, { cost }]) => cost === undefined).map(([model]) => model);
  const messages = new Map(report.messages.map((one) => [one.day, one]));
  const said = (name: string, figure: "received" | "answered") => ({
    name,
    values: days.map((day) => messages.get(day)?.[figure] ?? 0),
  });
  const used = (name: string, figure: keyof Total) => ({
    name,
    values: ofDays.map((total) => total[figure]),
  });
  const chart = { labelled: "Day (UTC)", labels: days, unit: "count" } as const;
  const sources = report.sources?.[range];
  return (
    <>
      <ul class="chips" aria-label="Range">
        {Object.entries(RANGE_NAMES).map(([name, text]) => (
          <li>
            <a href={addressOf({ range: name, sort })} aria-current={name === range ? "true" : undefined}>
              {text}
            </a>
          </li>
        ))}
        <li>
          <a href={ROUTES.usageExport.path} download>
            Export CSV
          </a>
        </li>
      </ul>
      <h2>By day (UTC)</h2>
      <div class="grid">
        <BarChart
          {...chart}
          title="Messages"
          series={[said("Received", "received"), said("Answers", "answered")]}
        />
        <BarChart
          {...chart}
          title="Tokens"
          series={[used("In", "inputTokens"), used("Out", "outputTokens")]}
        />
        <BarChart {...chart} title="Requests to models" series={[used("Requests", "requests")]} />
        <BarChart {...chart} title="Estimated cost" unit="dollars" series={[used("US dollars", "cost")]} />
      </div>
      <h2>By model</h2>
      {totalsTable(
        "model",
        { head: "Model", kind: "name", by: ([model]) => model },
        query,
        [...byModel].sort(([a], [b]) => a.localeCompare(b)),
      )}
      {sources !== undefined && (
        <>
          <h2>By person</h2>
          {sourcesTable("person", query, sources, report, names)}
          <h2>By place</h2>
          {sourcesTable("place", query, sources, report, names)}
        </>
      )}
      <p class="soft">
        The cost is an estimate: tokens at the base prices that{" "}
        <a href={PRICES_SOURCE.url}>Anthropic published</a> ({PRICES_SOURCE.month}), or at those of{" "}
        <code>models.prices</code> in the config.{" "}
        {unpriced.length === 0
          ? ""
          : `The sums exclude models without a known price: ${unpriced.join(", ")}.`}
      </p>
    </>
  );
}

function sourcesTable(
  kind: SourceUsage["kind"],
  query: UsageQuery,
  sources: readonly SourceUsage[],
  { prices }: UsageReport,
  names: Names,
): Markup {
  const own = sources.filter((one) => one.kind === kind);
  const rows = [...totals(own, prices, keyOf)];
  const head = kind === "person" ? "Person" : "Place";
  const who = ([id]: readonly [string, unknown]) => ({
    id,
    entry: names.get(id),
    otherwise: id === ":" ? OTHERS : undefined,
  });
  const column = personColumn(head, who);
  const cell = (row: [string, Total]) => (row[0] === ":" ? OTHERS : column.cell?.(row));
  return totalsTable(kind, { ...column, cell }, query, rows);
}

function totalsTable(
  what: "model" | SourceUsage["kind"],
  first: Column<[string, Total]>,
  { range, sort }: UsageQuery,
  rows: readonly [string, Total][],
): Markup {
  if (rows.length === 0)
    return <p class="empty">No model requests {what === "model" ? "yet" : "in this range"}.</p>;
  const figure = (head: string, read: (total: Total) => number) => ({
    head,
    kind: "number" as const,
    by: ([, total]: [string, Total]) => read(total),
    cell: ([, total]: [string, Total]) => (
      <>
        {FORMATS.count(read(total))}
        <CellBar value={read(total)} most={Math.max(...rows.map(([, one]) => read(one)))} />
      </>
    ),
  });
  const most = Math.max(...rows.map(([, { cost = 0 }]) => cost));
  const columns: Column<[string, Total]>[] = [
    first,
    figure("Requests", ({ requests }) => requests),
    figure("Tokens in", ({ inputTokens }) => inputTokens),
    figure("Tokens out", ({ outputTokens }) => outputTokens),
    {
      head: "Cost",
      kind: "number",
      by: ([, { cost = -1 }]) => cost,
      cell: ([, { cost }]) =>
        cost === undefined ? (
          "unknown price"
        ) : (
          <>
            {FORMATS.dollars(cost)}
            <CellBar value={cost} most={most} />
          </>
        ),
    },
  ];
  return (
    <Table
      label={`Usage by ${what}`}
      caption={`Requests, tokens and estimated cost by ${what}`}
      columns={columns}
      rows={sorted(rows, columns, sort)}
      order={{ sort, href: (other) => addressOf({ range, sort: other }) }}
    />
  );
}

function addressOf({ range, sort }: { range: string; sort: string | undefined }): string {
  return `${ROUTES.usagePage.path}?${new URLSearchParams({ range, ...(sort && { sort }) })}`;
}

interface Total {
  requests: number;
  inputTokens: number;
  outputTokens: number;
  /** Cost in US dollars of the requests with a known price; `undefined` if no price is known. */
  cost: number | undefined;
}

const OTHERS = "All others";
const NOTHING: Total = { requests: 0, inputTokens: 0, outputTokens: 0, cost: undefined };

/** Sums rows by key, in order of first occurrence. */
export function totals<Row extends Omit<ModelUsage, "day">>(
  rows: readonly Row[],
  prices: UsageReport["prices"],
  keyOf: (row: Row) => string,
): Map<string, Total> {
  const sums = new Map<string, Total>();
  for (const row of rows) {
    const sum = sums.get(keyOf(row)) ?? NOTHING;
    const cost = costOf(row, prices[row.model]);
    sums.set(keyOf(row), {
      requests: sum.requests + row.requests,
      inputTokens: sum.inputTokens + row.inputTokens,
      outputTokens: sum.outputTokens + row.outputTokens,
      cost: cost === undefined ? sum.cost : cost + (sum.cost ?? 0),
    });
  }
  return sums;
}

function costOf(
  { inputTokens, outputTokens }: Omit<ModelUsage, "day">,
  price: ModelPrice | undefined,
): number | undefined {
  if (price === undefined) return undefined;
  return (inputTokens * price.input + outputTokens * price.output) / PRICED_TOKENS;
}
