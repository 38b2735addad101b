/** Script of the usage page: replaces each bar chart with one that shows the figures of the bar under the pointer. */
import uPlot from "uplot";
import { element } from "./dom.ts";

/** Content of a chart's `data-chart` attribute. */
interface ChartData {
  labels: string[];
  series: { name: string; values: (number | null)[] }[];
  unit: "count" | "dollars";
}

const HEIGHT = 190;
/** Total width of a label's bars, as a fraction of the distance between two labels. */
const BARS = 0.8;
const WIDEST_BAR = 40;
/** Axis increments for whole numbers. */
const WHOLE = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

const content = element("content", HTMLElement);
const style = getComputedStyle(content);
const resized = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    charts.get(target)?.setSize({ width: contentRect.width, height: HEIGHT });
  }
});
const charts = new Map<Element, uPlot>();

/** Short enough for an axis label. */
const SHORT = new Intl.NumberFormat("en-US", { notation: "compact" });

function format(value: number | null, unit: ChartData["unit"]): string {
  if (value === null) return "–";
  if (unit === "count") return value.toLocaleString("en-US");
  return `$${value.toFixed(value > 0 && value < 0.1 ? 4 : 2)}`;
}

function draw(place: HTMLElement): void {
  const { labels, series, unit }: ChartData = JSON.parse(place.dataset["chart"] ?? "{}");
  // Copy the bars' colours, because CSS cannot colour uPlot's canvas.
  const bars = [...place.querySelectorAll("g:first-of-type rect")].map((one) => getComputedStyle(one).fill);
  place.replaceChildren();
  const axis = { stroke: style.color, grid: { show: false }, ticks: { show: false } };
  const chart = new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT,
      scales: { x: { time: false, range: [-0.5, labels.length - 0.5] }, y: { range: [0, null] } },
      cursor: { drag: { x: false, y: false }, y: false },
      axes: [
        {
          ...axis,
          incrs: [1, 2, 5, 10],
          values: (_, splits) => splits.map((at) => labels[at]?.slice(5) ?? ""),
        },
        {
          ...axis,
          size: 60,
          ...(unit === "count" && { incrs: WHOLE }),
          values: (_, splits) =>
            splits.map((value) => (unit === "count" ? SHORT.format(value) : format(value, unit))),
        },
      ],
      series: [
        { label: "Day (UTC)", value: (_, at) => labels[at ?? -1] ?? "–" },
        ...series.map(({ name }, index): uPlot.Series => {
          const color = bars[index] ?? style.color;
          // A single bar is centred at the label; two bars stand to the left and right of the label.
          const align = series.length === 1 ? 0 : index === 0 ? -1 : 1;
          const paths = uPlot.paths.bars?.({ size: [BARS / series.length, WIDEST_BAR], align });
          return {
            label: name,
            stroke: color,
            // Draw no outline: it would be visible even on bars of zero height.
            width: 0,
            fill: color,
            points: { show: false },
            value: (_, value) => format(value, unit),
            ...(paths && { paths }),
          };
        }),
      ],
    },
    [labels.map((_, index) => index), ...series.map(({ values }) => values)],
    place,
  );
  charts.set(place, chart);
  resized.observe(place);
}

function drawAll(): void {
  for (const place of charts.keys()) {
    if (!place.isConnected) {
      resized.unobserve(place);
      charts.delete(place);
    }
  }
  for (const place of content.querySelectorAll<HTMLElement>("[data-chart]:not(:has(canvas))")) draw(place);
}

new MutationObserver(drawAll).observe(content, { childList: true });
drawAll();
