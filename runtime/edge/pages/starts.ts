import { html } from "hono/html";
import type { ColdStart } from "../../contract/cold-starts.ts";
import type { SandboxStatus } from "../../contract/control.ts";
import { age } from "./age.ts";
import type { Markup } from "./layout.ts";
import { dataTable } from "./table.ts";

/** Renders how far the start under way is, measured against the earlier ones; nothing while there is none. */
export function startProgress({ start, coldStarts = [] }: SandboxStatus, now: number): Markup | "" {
  if (start === undefined) return "";
  if (start.phase === "crashed") return html`<p>The gateway crashed and restarts automatically.</p>`;
  const elapsed = Math.max(0, now - Date.parse(start.at));
  const what = start.phase === "restoring" ? ", its state is being restored" : "";
  return html`<p>Starting for ${seconds(elapsed)}${what}; ${againstUsual(elapsed, usualMs(coldStarts))}</p>
    ${bar(elapsed, usualMs(coldStarts))}`;
}

/** The last starts, to be opened. */
export function startsPart(starts: readonly ColdStart[] = [], now: number): Markup | "" {
  if (starts.length === 0) return "";
  return html`<details>
    <summary>Last starts: ${starts.length}</summary>
    ${dataTable({
      label: "Last starts",
      columns: ["Began", { number: "Took" }, "Ended"],
      rows: starts.map(
        ({ at, ms, ended }) =>
          html`<tr>
            <th scope="row">${age(Date.parse(at), now)}</th>
            <td class="number">${ms} ms</td>
            <td>${ended === "ready" ? "ready" : html`<code>${ended}</code>`}</td>
          </tr>`,
      ),
    })}
  </details>`;
}

/** The median of those that ended with a gateway that answers. */
function usualMs(starts: readonly ColdStart[]): number | undefined {
  const taken = starts.flatMap(({ ms, ended }) => (ended === "ready" ? [ms] : [])).toSorted((a, b) => a - b);
  const [low, high] = [taken[(taken.length - 1) >> 1], taken[taken.length >> 1]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}

function againstUsual(elapsed: number, usual: number | undefined): string {
  if (usual === undefined) return "no earlier start was measured.";
  const late = elapsed > usual ? " This one takes longer than usual." : "";
  return `usually ready after ${seconds(usual)}.${late}`;
}

/** Without a value once there is nothing to measure it against: it moves and claims nothing. */
function bar(elapsed: number, usual: number | undefined): Markup {
  if (usual === undefined || elapsed > usual) return html`<progress aria-label="Start"></progress>`;
  return html`<progress
    aria-label="Start"
    max="${Math.round(usual)}"
    value="${Math.round(elapsed)}"
  ></progress>`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}
