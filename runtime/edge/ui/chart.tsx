import type { Markup } from "./document.tsx";
import { PlainTable } from "./table.tsx";

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
  /** The lowest end of the scale, whose half can still be told from nothing. Default: 2. */
  least?: number;
}

const HEIGHT = 100;
/** Of a label's place in the chart, and what its bar takes of it. */
const PLACE = 10;
const LEAST = 2;
const BAR = 8;

/**
 * A bar for each label, and the same figures in a table under it, the last label first. The chart itself says
 * nothing to a screen reader that the table does not say better.
 */
export function BarChart(chart: Chart): Markup {
  const { title, labels, series, format } = chart;
  const sums = labels.map((_, index) => sum(series.map(({ values }) => values[index])));
  const top = topOf(Math.max(chart.least ?? LEAST, ...sums));
  const width = labels.length * PLACE;
  const last = labels.length - 1;
  const ends = [...new Set([0, Math.floor(last / 2), last])];
  const legend = series.length === 1 ? "" : <p class="legend">{series.map(legendOf)}</p>;
  return (
    <section>
      <h3>{title}</h3>
      <p class="soft">{summary(chart, sums)}</p>
      {legend}
      <div class="plot" aria-hidden="true">
        <p class="scale">
          {[top, top / 2, 0].map((value) => (
            <span>{format(value)}</span>
          ))}
        </p>
        <svg class="chart" viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none">
          {[0, HEIGHT / 2].map((y) => (
            <line x1="0" x2={width} y1={y} y2={y} />
          ))}
          {labels.map((label, index) => bar(chart, { label, index, top }))}
        </svg>
        <p class="ends">
          {ends.map((index) => (
            <span>{labels[index]}</span>
          ))}
        </p>
      </div>
      <details>
        <summary>{title} as a table</summary>
        {figures(chart)}
      </details>
    </section>
  );
}

/** A bar as wide as its cell at most, under a figure of a table that says it. */
export function CellBar({ value, most }: { value: number; most: number }): Markup {
  const width = most === 0 ? 0 : round((value / most) * 100);
  return (
    <svg class="cell" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect width={width} height="4" />
    </svg>
  );
}

function summary({ series, format }: Chart, sums: readonly number[]): string {
  const known = series.some(({ values }) => values.some((value) => value !== undefined));
  if (!known) return "Not known.";
  return `Total: ${format(sum(sums))}. Peak: ${format(Math.max(0, ...sums))}.`;
}

function legendOf({ name }: Series): Markup {
  return <span>{name}</span>;
}

/** Returns the scale's end: an even number of one digit, and zeros, that no bar exceeds. */
function topOf(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  const digit = [2, 4, 6, 8].find((one) => one * power >= most) ?? 10;
  return digit * power;
}

function bar(chart: Chart, at: { label: string; index: number; top: number }): Markup {
  const { label, index, top } = at;
  const heights = chart.series.map(({ values }) => ((values[index] ?? 0) / top) * HEIGHT);
  return (
    <g>
      <title>
        {label}: {chart.series.map((one) => told(chart, one, index)).join(", ")}
      </title>
      {heights.map((height, place) => {
        const below = sum(heights.slice(0, place));
        return (
          <rect
            x={index * PLACE + (PLACE - BAR) / 2}
            y={round(HEIGHT - below - height)}
            width={BAR}
            height={round(height)}
          />
        );
      })}
    </g>
  );
}

function figures({ title, labelled, labels, series, format }: Chart): Markup {
  const rows = labels.map((label, index) => ({ label, index })).toReversed();
  return (
    <PlainTable
      label={`${title} as a table`}
      caption={title}
      columns={[labelled, ...series.map(({ name }) => ({ number: name }))]}
      rows={rows.map(({ label, index }) => (
        <tr>
          <th scope="row">{label}</th>
          {series.map(({ values }) => (
            <td class="number">{inWords(values[index], format)}</td>
          ))}
        </tr>
      ))}
    />
  );
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
