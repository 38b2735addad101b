import type { Markup } from "./document.tsx";
import type { Column } from "./table.tsx";

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** `at` is ISO 8601 or milliseconds since the epoch; `now` is milliseconds since the epoch. */
interface AgeProps {
  at: number | string;
  now: number;
}

export function Age({ at, now }: AgeProps): Markup {
  const date = new Date(at);
  const exact = date.toISOString();
  return (
    <time datetime={exact} title={exact}>
      {describeAge(now - date.getTime())}
    </time>
  );
}

/** Returns a table column of ages. Times are milliseconds since the epoch; 0 and `NaN` show "unknown". */
export function ageColumn<Row>(head: string, now: number, by: (row: Row) => number): Column<Row> {
  const cell = (row: Row) =>
    by(row) > 0 ? <Age at={by(row)} now={now} /> : <span class="soft">unknown</span>;
  return { head, by, cell };
}

/** `at` is ISO 8601. */
export function Moment({ at }: { at: string }): Markup {
  const [day = "", time = ""] = at.split("T");
  return (
    <time datetime={at}>
      {day} {time.slice(0, 8)} UTC
    </time>
  );
}

/** Renders `words`, then the time `at`. Renders nothing if `at` is undefined. */
export function TimeAfter({ words, at }: { words: string; at: string | undefined }): Markup | null {
  if (at === undefined) return null;
  return (
    <>
      {words} <Moment at={at} />
    </>
  );
}

export function Dated({ at, now }: AgeProps): Markup {
  const date = new Date(at);
  return (
    <>
      <Moment at={date.toISOString()} /> <span class="soft">({describeAge(now - date.getTime())})</span>
    </>
  );
}

function describeAge(milliseconds: number): string {
  const unit = UNITS.find(([, length]) => milliseconds >= length);
  if (unit === undefined) return "just now";
  const count = Math.floor(milliseconds / unit[1]);
  return `${count} ${unit[0]}${count === 1 ? "" : "s"} ago`;
}
