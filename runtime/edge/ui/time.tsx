import type { Markup } from "./document.tsx";
import type { Column } from "./table.tsx";

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** Age of something in words, with the exact time behind it. `at` and `now` are milliseconds since the epoch. */
export function Age({ at, now }: { at: number; now: number }): Markup {
  const exact = new Date(at).toISOString();
  return (
    <time datetime={exact} title={exact}>
      {describeAge(now - at)}
    </time>
  );
}

/** Returns a column of ages. Times are milliseconds since the epoch; 0 and `NaN` are unknown. */
export function ageColumn<Row>(head: string, now: number, by: (row: Row) => number): Column<Row> {
  const cell = (row: Row) =>
    by(row) > 0 ? <Age at={by(row)} now={now} /> : <span class="soft">unknown</span>;
  return { head, by, cell };
}

/** Date and time of something, to the second. `at` is ISO 8601. */
export function Moment({ at }: { at: string }): Markup {
  const [day = "", time = ""] = at.split("T");
  return (
    <time datetime={at}>
      {day} {time.slice(0, 8)} UTC
    </time>
  );
}

/** Date and time of something with its age. Both are milliseconds since the epoch. */
export function Dated({ at, now }: { at: number; now: number }): Markup {
  return (
    <>
      <Moment at={new Date(at).toISOString()} /> <span class="soft">({describeAge(now - at)})</span>
    </>
  );
}

function describeAge(milliseconds: number): string {
  const unit = UNITS.find(([, length]) => milliseconds >= length);
  if (unit === undefined) return "just now";
  const count = Math.floor(milliseconds / unit[1]);
  return `${count} ${unit[0]}${count === 1 ? "" : "s"} ago`;
}
