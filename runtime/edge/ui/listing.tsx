import type { Child } from "hono/jsx";
import * as z from "zod/mini";
import { wholeNumber } from "../form.ts";
import type { Markup } from "./document.tsx";
import { SelectField } from "./form.tsx";
import { type Column, sorted, Table } from "./table.tsx";

const ROWS = 50;
/** Lists with up to this many rows have no search form. */
const FEW = 5;
const LONGEST_SEARCH = 100;
const HOUR_MS = 3_600_000;

/** Selectable time ranges: query value, label, and length in milliseconds. */
export const RANGES = {
  day: ["The last 24 hours", 24 * HOUR_MS],
  week: ["The last 7 days", 7 * 24 * HOUR_MS],
  month: ["The last 30 days", 30 * 24 * HOUR_MS],
} as const;

/** Query of a searchable list. Built lazily to keep startup fast. */
export const listingQuery = () =>
  z.object({
    q: z._default(z.string().check(z.maxLength(LONGEST_SEARCH)), ""),
    range: z.optional(z.enum(Object.keys(RANGES) as (keyof typeof RANGES)[])),
    page: z._default(wholeNumber(1, 10_000), 1),
    sort: z.optional(z.string().check(z.regex(/^-?[a-z-]{1,30}$/))),
  });

export type ListingQuery = z.output<ReturnType<typeof listingQuery>>;

interface ListProps<Row> {
  path: string;
  query: ListingQuery;
  /** Milliseconds since the epoch. */
  now: number;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  /** Returns the text to search, and the row's time (milliseconds since the epoch). */
  read(row: Row): { text: string; at: number };
  label: string;
  /** Rows per page. Default: 50. */
  most?: number;
  caption?(count: number): Child;
}

/** Renders one page of the matching rows, with a search form and links to the other pages. */
export function ListTable<Row>(props: ListProps<Row>): Markup {
  const { path, query, now, rows, columns, read, label, most = ROWS, caption } = props;
  const { q, range, page, sort } = query;
  const wanted = q.trim().toLowerCase();
  const since = range === undefined ? 0 : now - RANGES[range][1];
  const fitting = sorted(rows, columns, sort).filter((row) => {
    const { text, at } = read(row);
    return at >= since && text.toLowerCase().includes(wanted);
  });
  const pages = Math.max(1, Math.ceil(fitting.length / most));
  const shown = Math.min(page, pages);
  const address = (differs: object): string =>
    `${path}?${new URLSearchParams({ ...(q && { q }), ...(range && { range }), ...(sort && { sort }), ...differs })}`;
  const link = (to: number, words: string): Markup | "" =>
    to < 1 || to > pages ? "" : <a href={address({ page: String(to) })}>{words}</a>;
  return (
    <>
      {(rows.length > FEW || q !== "" || range !== undefined) && <SearchForm path={path} query={query} />}
      <Table
        label={label}
        caption={caption?.(fitting.length)}
        columns={columns}
        rows={fitting.slice((shown - 1) * most, shown * most)}
        order={{ sort, href: (other) => address({ sort: other }) }}
      />
      {pages > 1 && (
        <nav class="pages" aria-label="Pages of the list">
          {link(shown - 1, "Previous")}{" "}
          <span class="soft">
            Page {shown} of {pages}
          </span>{" "}
          {link(shown + 1, "Next")}
        </nav>
      )}
    </>
  );
}

interface SearchProps {
  path: string;
  query: { q?: string | undefined; range?: string | undefined; sort?: string | undefined };
  children?: Markup;
}

/** Renders a search form. `children` are additional fields; a hidden field preserves the sort order. */
export function SearchForm({ path, query: { q = "", range, sort }, children }: SearchProps): Markup {
  const ranges = [
    ["", "All"] as const,
    ...Object.entries(RANGES).map(([name, [label]]) => [name, label] as const),
  ];
  return (
    <form class="row" method="get" action={path} role="search">
      <label>
        Search <input type="search" name="q" maxlength={LONGEST_SEARCH} value={q} />
      </label>
      {children}
      {sort !== undefined && <input type="hidden" name="sort" value={sort} />}
      <SelectField name="range" label="Time" options={ranges} selected={range} />{" "}
      <button type="submit">Show</button>
    </form>
  );
}
