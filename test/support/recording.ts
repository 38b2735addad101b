export interface RecordedLine {
  /** Milliseconds since the recording started. */
  at: number;
  text: string;
}

const COLUMNS = 104;
const ROWS = 24;
const LINE = 18;
const MARGIN = 16;
const BAR = 28;
const LONGEST_PAUSE_MS = 700;

/** Draws a terminal recording as an SVG that plays once and takes `seconds`. */
export function drawRecording(title: string, lines: readonly RecordedLine[], seconds: number): string {
  const times: number[] = [];
  for (const [index, { at }] of lines.entries())
    times.push((times.at(-1) ?? 0) + Math.min(at - (lines[index - 1]?.at ?? at), LONGEST_PAUSE_MS));
  const last = Math.max(1, times.at(-1) ?? 1);
  // The last 10 % of the time shows the last screen.
  const timeOf = (index: number): number => Number((((times[index] ?? 0) / last) * seconds * 0.9).toFixed(2));
  const width = COLUMNS * 7.85 + 2 * MARGIN;
  const height = ROWS * LINE + 2 * MARGIN + BAR;
  const hidden = Math.max(0, lines.length - ROWS);
  const scroll = lines.slice(ROWS).map((_, index) => {
    const percent = ((timeOf(ROWS + index) / seconds) * 100).toFixed(2);
    return `${percent}% { transform: translateY(-${(index + 1) * LINE}px); }`;
  });
  const drawn = lines.map(
    ({ text }, index) =>
      `<text x="${MARGIN}" y="${MARGIN + (index + 1) * LINE - 5}" class="${toneOf(text)}" style="animation-delay:${timeOf(index)}s">${escaped(text.slice(0, COLUMNS))}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">
<title>${escaped(title)}</title>
<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d7dae0; white-space: pre; opacity: 0; animation: show 0s linear forwards; }
.prompt { fill: #55cc90; font-weight: 600; } .create { fill: #8fbf8f; } .head { fill: #fff; font-weight: 600; } .bar { opacity: 1; animation: none; fill: #a4adb9; }
.lines { animation: scroll ${seconds}s step-end forwards; }
@keyframes show { to { opacity: 1; } }
@keyframes scroll { 0% { transform: none; } ${scroll.join(" ")} 100% { transform: translateY(-${hidden * LINE}px); } }
@media (prefers-reduced-motion: reduce) { text { opacity: 1; animation: none; } .lines { animation: none; transform: translateY(-${hidden * LINE}px); } }
</style>
<rect width="${width}" height="${height}" rx="8" fill="#14161a" />
<text x="${MARGIN}" y="19" class="bar">${escaped(title)}</text>
<svg y="${BAR}" width="${width}" height="${height - BAR}"><g class="lines">
${drawn.join("\n")}
</g></svg>
</svg>
`;
}

function toneOf(text: string): string {
  if (text.startsWith("$ ")) return "prompt";
  if (text.startsWith(" + ")) return "create";
  return /^(?:Deployed|Reply:|Sent:)/.test(text) ? "head" : "";
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
