import { html } from "hono/html";
import type { SandboxStatus, UsageReport } from "../../contract/control.ts";
import { PRICES_SOURCE } from "../../contract/prices.ts";
import { adminFrame, type Visitor } from "./admin-frame.ts";
import { barChart, cellBar } from "./chart.ts";
import { reasonBox, repairLink, stateLine } from "./home.ts";
import type { Markup } from "./layout.ts";
import { totals, type Total } from "./usage-totals.ts";

/** What the page of the usage shows. */
export interface UsageView {
  visitor: Visitor;
  status: SandboxStatus;
  /** Told by the gateway itself; `undefined` while it is not ready. */
  report: UsageReport | undefined;
}

/** The page of `/_admin/usage`. */
export function usagePage({ visitor, status, report }: UsageView): Markup {
  return adminFrame(
    { title: "Usage", visitor },
    report === undefined ? downPart(status) : reportPart(report),
  );
}

function downPart(status: SandboxStatus): Markup {
  return html`${stateLine(status)} ${reasonBox(status.reason)} ${repairLink(status.reason)}
    <p class="soft">What was used is known once the gateway is up.</p>`;
}

function reportPart(report: UsageReport): Markup {
  const { days, models } = report;
  const byDay = totals(report, days, ({ day }) => day);
  const names = [...new Set(models.map(({ model }) => model))].sort();
  const byModel = totals(report, names, ({ model }) => model);
  const unpriced = byModel.filter(([, { cost }]) => cost === undefined).map(([model]) => model);
  const said = new Map(report.messages.map((one) => [one.day, one]));
  const chart = { labelled: "Day (UTC)", labels: days };
  return html`<p>The last ${days.length} days, in UTC.</p>
    <h2>By day</h2>
    ${barChart({
      ...chart,
      title: "Messages",
      format: whole,
      series: [
        { name: "Received", values: days.map((day) => said.get(day)?.received ?? 0) },
        { name: "Answered", values: days.map((day) => said.get(day)?.answered ?? 0) },
      ],
    })}
    ${barChart({
      ...chart,
      title: "Tokens",
      format: whole,
      series: [
        { name: "In", values: byDay.map(([, total]) => total.inputTokens) },
        { name: "Out", values: byDay.map(([, total]) => total.outputTokens) },
      ],
    })}
    ${barChart({
      ...chart,
      title: "Requests to models",
      format: whole,
      series: [{ name: "Requests", values: byDay.map(([, total]) => total.requests) }],
    })}
    ${barChart({
      ...chart,
      title: "Estimated cost",
      format: dollars,
      series: [{ name: "US dollars", values: byDay.map(([, total]) => total.cost) }],
    })}
    <h2>By model</h2>
    ${byModel.length === 0 ? html`<p class="soft">No model was asked.</p>` : modelTable(byModel)}
    <p class="soft">
      The cost is an estimate: tokens at the base prices that
      <a href="${PRICES_SOURCE.url}">Anthropic published</a> (${PRICES_SOURCE.month}), or at those of
      <code>models.prices</code> in the config.
      ${unpriced.length === 0 ? "" : `No sum holds what has no known price: ${unpriced.join(", ")}.`}
    </p>`;
}

function modelTable(rows: readonly [model: string, total: Total][]): Markup {
  const most = (read: (total: Total) => number): number => Math.max(...rows.map(([, total]) => read(total)));
  const tokensIn = most(({ inputTokens }) => inputTokens);
  const tokensOut = most(({ outputTokens }) => outputTokens);
  const requests = most((total) => total.requests);
  const cost = most((total) => total.cost ?? 0);
  return html`<div class="table" role="region" aria-label="Usage by model" tabindex="0">
    <table>
      <caption>
        Requests, tokens and estimated cost by model
      </caption>
      <thead>
        <tr>
          <th scope="col">Model</th>
          <th scope="col" class="number">Requests</th>
          <th scope="col" class="number">Tokens in</th>
          <th scope="col" class="number">Tokens out</th>
          <th scope="col" class="number">Cost</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([model, total]) =>
            html`<tr>
              <th scope="row">${model}</th>
              ${figure(total.requests, requests)} ${figure(total.inputTokens, tokensIn)}
              ${figure(total.outputTokens, tokensOut)}
              ${
                total.cost === undefined
                  ? html`<td class="number soft">no price known</td>`
                  : html`<td class="number">${dollars(total.cost)}${cellBar(total.cost, cost)}</td>`
              }
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function figure(value: number, most: number): Markup {
  return html`<td class="number">${whole(value)}${cellBar(value, most)}</td>`;
}

function whole(value: number): string {
  return value.toLocaleString("en-US");
}

/** Cents, and where that would be nothing as much as it takes to see that it is not. */
function dollars(value: number): string {
  return value > 0 && value < 0.01 ? "under $0.01" : `$${value.toFixed(2)}`;
}
