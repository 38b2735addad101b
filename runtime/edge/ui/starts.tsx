import type { ColdStart } from "../../contract/cold-starts.ts";
import type { SandboxStatus } from "../../contract/control.ts";
import { Age } from "./time.tsx";
import type { Markup } from "./document.tsx";
import { Table } from "./table.tsx";

/** Renders the progress of the current start. `now` is in milliseconds since the epoch. */
export function StartProgress({ status, now }: { status: SandboxStatus; now: number }): Markup | null {
  const { start, coldStarts = [] } = status;
  if (start === undefined) return null;
  if (start.phase === "crashed") return <p>The gateway crashed and restarts automatically.</p>;
  const elapsed = Math.max(0, now - Date.parse(start.at));
  const what = start.phase === "restoring" ? ", restoring its state" : "";
  return (
    <>
      <p>
        Starting for {seconds(elapsed)}
        {what}; {againstUsual(elapsed, usualMs(coldStarts))}
      </p>
      {bar(elapsed, usualMs(coldStarts))}
    </>
  );
}

/** The last starts, collapsed. */
export function Starts({ starts, now }: { starts: readonly ColdStart[]; now: number }): Markup | null {
  if (starts.length === 0) return null;
  return (
    <details>
      <summary>Last starts: {starts.length}</summary>
      <Table
        label="Last starts"
        rows={starts}
        columns={[
          { head: "Began", kind: "name", cell: ({ at }) => <Age at={at} now={now} /> },
          { head: "Took", kind: "number", cell: ({ ms }) => `${ms} ms` },
          { head: "Ended", cell: ({ ended }) => (ended === "ready" ? "ready" : <code>{ended}</code>) },
        ]}
      />
    </details>
  );
}

/** Returns the median duration of successful starts, in milliseconds. */
function usualMs(starts: readonly ColdStart[]): number | undefined {
  const taken = starts.flatMap(({ ms, ended }) => (ended === "ready" ? [ms] : [])).toSorted((a, b) => a - b);
  const [low, high] = [taken[(taken.length - 1) >> 1], taken[taken.length >> 1]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}

function againstUsual(elapsed: number, usual: number | undefined): string {
  if (usual === undefined) return "no earlier start for comparison.";
  const late = elapsed > usual ? " This one takes longer than usual." : "";
  return `usually ready after ${seconds(usual)}.${late}`;
}

/** Renders a progress bar, which is indeterminate if the usual duration is unknown or exceeded. */
function bar(elapsed: number, usual: number | undefined): Markup {
  if (usual === undefined || elapsed > usual) return <progress aria-label="Start"></progress>;
  return <progress aria-label="Start" max={Math.round(usual)} value={Math.round(elapsed)}></progress>;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}
