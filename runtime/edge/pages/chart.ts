import { html } from "hono/html";
import type { Markup } from "./layout.ts";

/** One kind of figure in a chart. */
interface Series {
  name: string;
  /** One a label; `undefined` where it is not known. */
  values: readonly (number | undefined)[];
}

/** A chart with its figures in words. */
export interface Chart {
  title: string;
  /** Name of the labels, for the table's head. */
  labelled: string;
  labels: readonly string[];
  /** The first stands at the bottom of each bar. Two at most: the style knows as many colours. */
  series: readonly Series[];
  format(value: number): string;
}

const HEIGHT = 100;
/** Of a label's place in the chart, and what its bar takes of it. */
const PLACE = 10;
const BAR = 8;

/**
 * A bar for each label, and the same figures in a table under it, the last label first. The chart itself says
 * nothing to a screen reader that the table does not say better.
 */
export function barChart(chart: Chart): Markup {
  const { title, labels, series } = chart;
  const sums = labels.map((_, index) => sum(series.map(({ values }) => values[index])));
  const most = Math.max(0, ...sums);
  const legend = series.length === 1 ? "" : html`<p class="legend">${series.map(legendOf)}</p>`;
  return html`<section>
    <h3>${title}</h3>
    <p class="soft">${summary(chart, sums)}</p>
    ${legend}
    <svg
      class="chart"
      viewBox="0 0 ${labels.length * PLACE} ${HEIGHT}"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      ${labels.map((label, index) => bar(chart, { label, index, most }))}
    </svg>
    <p class="ends" aria-hidden="true"><span>${labels[0]}</span><span>${labels.at(-1)}</span></p>
    <details>
      <summary>${title} as a table</summary>
      ${figures(chart)}
    </details>
  </section>`;
}

/** A bar as wide as its cell at most, under a figure of a table that says it. */
export function cellBar(value: number, most: number): Markup {
  const width = most === 0 ? 0 : round((value / most) * 100);
  return html`<svg class="cell" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
    <rect width="${width}" height="4" />
  </svg>`;
}

function summary({ series, format }: Chart, sums: readonly number[]): string {
  const known = series.some(({ values }) => values.some((value) => value !== undefined));
  if (!known) return "Not known.";
  return `In all: ${format(sum(sums))}. Highest: ${format(Math.max(0, ...sums))}.`;
}

function legendOf({ name }: Series): Markup {
  return html`<span>${name}</span> `;
}

function bar(chart: Chart, at: { label: string; index: number; most: number }): Markup {
  const { label, index, most } = at;
  const heights = chart.series.map(({ values }) => (most === 0 ? 0 : ((values[index] ?? 0) / most) * HEIGHT));
  return html`<g>
    <title>${label}: ${chart.series.map((one) => told(chart, one, index)).join(", ")}</title>
    ${heights.map((height, place) => {
      const below = sum(heights.slice(0, place));
      return html`<rect
        x="${index * PLACE + (PLACE - BAR) / 2}"
        y="${round(HEIGHT - below - height)}"
        width="${BAR}"
        height="${round(height)}"
      />`;
    })}
  </g>`;
}

function figures({ title, labelled, labels, series, format }: Chart): Markup {
  const rows = labels.map((label, index) => ({ label, index })).toReversed();
  return html`<div class="table" role="region" aria-label="${title} as a table" tabindex="0">
    <table>
      <caption>
        ${title}
      </caption>
      <thead>
        <tr>
          <th scope="col">${labelled}</th>
          ${series.map(({ name }) => html`<th scope="col" class="number">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ({ label, index }) =>
            html`<tr>
              <th scope="row">${label}</th>
              ${series.map(({ values }) => html`<td class="number">${inWords(values[index], format)}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function told({ format }: Chart, { name, values }: Series, index: number): string {
  return `${name} ${inWords(values[index], format)}`;
}

function inWords(value: number | undefined, format: Chart["format"]): string {
  return value === undefined ? "not known" : format(value);
}

function sum(values: readonly (number | undefined)[]): number {
  return values.reduce<number>((total, value) => total + (value ?? 0), 0);
}

/** Hundredths are finer than a screen. */
function round(value: number): number {
  return Math.round(value * 100) / 100;
}
