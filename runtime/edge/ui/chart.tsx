import { Table } from "./table.tsx";
import type { Markup } from "./document.tsx";

interface Series {
  name: string;
  /** One per label; `undefined` if unknown. */
  values: readonly (number | undefined)[];
}

export interface Chart {
  title: string;
  /** Heading of the table's column of labels, such as "Day". */
  labelled: string;
  labels: readonly string[];
  /** Shown as adjacent bars; at most two, since the style defines two colours. */
  series: readonly Series[];
  unit: keyof typeof FORMATS;
}

/** Formats an amount in dollars. A positive amount below one cent is not shown as zero. */
const dollars = (value: number): string =>
  value > 0 && value < 0.01 ? "under $0.01" : `$${value.toFixed(2)}`;

export const FORMATS = { count: (value: number) => value.toLocaleString("en-US"), dollars };
/** Minimum top value of the scale, so that the middle label (half the top value) is at least 1 or $0.01. */
const LEAST = { count: 2, dollars: 0.02 };

const HEIGHT = 100;
/** Width per label, in SVG units. */
const PLACE = 10;
/** Total width of a label's bars. */
const BAR = 8;

/**
 * A bar chart with a table of the same figures for screen readers. `usage.js` replaces the bars with an interactive
 * chart.
 */
export function BarChart(chart: Chart): Markup {
  const { title, labels, series, unit } = chart;
  const most = Math.max(LEAST[unit], ...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const top = topOf(most);
  const width = labels.length * PLACE;
  const last = labels.length - 1;
  const ends = [...new Set([0, Math.floor(last / 2), last])];
  return (
    <section class="card">
      <h3>{title}</h3>
      <p class="soft">{summary(chart)}</p>
      <div data-chart={JSON.stringify({ labels, series, unit })} aria-hidden="true">
        {series.length > 1 && (
          <p class="legend">
            {series.map(({ name }) => (
              <span>{name}</span>
            ))}
          </p>
        )}
        <div class="plot">
          <p class="scale">
            {[top, top / 2, 0].map((value) => (
              <span>{FORMATS[unit](value)}</span>
            ))}
          </p>
          <svg class="chart" viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none">
            {[0, HEIGHT / 2].map((y) => (
              <line x1="0" x2={width} y1={y} y2={y} />
            ))}
            {labels.map((label, index) => bars(chart, { label, index, top }))}
          </svg>
          <p class="ends">
            {ends.map((index) => (
              <span>{labels[index]}</span>
            ))}
          </p>
        </div>
      </div>
      <details>
        <summary>{title} as a table</summary>
        {figures(chart)}
      </details>
    </section>
  );
}

export function CellBar({ value, most }: { value: number; most: number }): Markup {
  const width = most === 0 ? 0 : round((value / most) * 100);
  return (
    <svg class="cell" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect width={width} height="4" />
    </svg>
  );
}

export function Sparkline({ values }: { values: readonly number[] }): Markup {
  const top = Math.max(...values, 0) || 1;
  const step = 100 / Math.max(values.length - 1, 1);
  const points = values.map((value, index) => `${round(index * step)},${round(22 - (value / top) * 20)}`);
  return (
    <svg class="sparkline" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
      <polyline points={points.join(" ")} />
    </svg>
  );
}

/** Returns the total and peak of each series. There is no common total, because series overlap. */
function summary({ series, unit }: Chart): string {
  const texts = series.map(({ name, values }) => {
    const known = values.filter((value) => value !== undefined);
    const label = series.length > 1 ? `${name}: ` : "";
    if (known.length === 0) return `${label}Unknown.`;
    const total = FORMATS[unit](known.reduce((sum, value) => sum + value, 0));
    const peak = FORMATS[unit](Math.max(0, ...known));
    return series.length > 1 ? `${name}: ${total}, peak ${peak}.` : `Total: ${total}. Peak: ${peak}.`;
  });
  return texts.join(" ");
}

/** Returns the top of the scale: 2, 4, 6, 8 or 10 times a power of ten. */
function topOf(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  const digit = [2, 4, 6, 8].find((one) => one * power >= most) ?? 10;
  return digit * power;
}

function bars({ series, unit }: Chart, at: { label: string; index: number; top: number }): Markup {
  const { label, index, top } = at;
  const width = BAR / series.length;
  return (
    <g>
      <title>
        {label}: {series.map(({ name, values }) => `${name} ${formatFigure(values[index], unit)}`).join(", ")}
      </title>
      {series.map(({ values }, place) => {
        const height = round(((values[index] ?? 0) / top) * HEIGHT);
        return (
          <rect
            x={index * PLACE + (PLACE - BAR) / 2 + place * width}
            y={round(HEIGHT - height)}
            width={width}
            height={height}
          />
        );
      })}
    </g>
  );
}

function figures({ title, labelled, labels, series, unit }: Chart): Markup {
  return (
    <Table
      label={`${title} as a table`}
      caption={title}
      columns={[
        { head: labelled, kind: "name", cell: (index) => labels[index] },
        ...series.map(({ name, values }) => ({
          head: name,
          kind: "number" as const,
          cell: (index: number) => formatFigure(values[index], unit),
        })),
      ]}
      rows={labels.map((_, index) => index).toReversed()}
    />
  );
}

function formatFigure(value: number | undefined, unit: Chart["unit"]): string {
  return value === undefined ? "unknown" : FORMATS[unit](value);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
