import * as z from "zod/mini";
import { wholeNumber } from "../form.ts";
import type { Markup } from "./document.tsx";
import { SelectField } from "./form.tsx";

const ROWS = 50;
const LONGEST_SEARCH = 100;
const HOUR_MS = 3_600_000;

/** Ranges of time, as the query has them and as people read them. */
export const RANGES = {
  day: ["The last 24 hours", 24 * HOUR_MS],
  week: ["The last 7 days", 7 * 24 * HOUR_MS],
  month: ["The last 30 days", 30 * 24 * HOUR_MS],
} as const;

/** Query of a list that can be searched. Made when it is asked for, and not at a start. */
export const listingQuery = () =>
  z.object({
    q: z._default(z.string().check(z.maxLength(LONGEST_SEARCH)), ""),
    range: z.optional(z.enum(Object.keys(RANGES) as (keyof typeof RANGES)[])),
    page: z._default(wholeNumber(1, 10_000), 1),
  });

/** See {@link listingQuery}. */
export type ListingQuery = z.output<ReturnType<typeof listingQuery>>;

/** One page of the rows that fit a query. */
export interface Listing<T> {
  rows: readonly T[];
  /** All that fit. */
  count: number;
  page: number;
  pages: number;
}

/**
 * Returns the page of the rows that hold the text of the query, in upper or lower case, and are of its time.
 * `read` gives a row's text and its time in milliseconds since the epoch; `size` is the most rows of a page.
 */
export function pageOf<T>(
  rows: readonly T[],
  { q, range, page }: ListingQuery,
  now: number,
  read: (row: T) => { text: string; at: number },
  size = ROWS,
): Listing<T> {
  const wanted = q.trim().toLowerCase();
  const since = range === undefined ? 0 : now - RANGES[range][1];
  const fitting = rows.filter((row) => {
    const { text, at } = read(row);
    return at >= since && text.toLowerCase().includes(wanted);
  });
  const pages = Math.max(1, Math.ceil(fitting.length / size));
  const shown = Math.min(page, pages);
  const first = (shown - 1) * size;
  return { rows: fitting.slice(first, first + size), count: fitting.length, page: shown, pages };
}

/** Properties of {@link SearchForm}. */
interface SearchProps {
  path: string;
  query: { q?: string | undefined; range?: string | undefined };
  /** Fields of the page's own. */
  children?: Markup;
}

/** The fields of a search and of a range of time, beside those that a page has of its own. */
export function SearchForm({ path, query: { q = "", range }, children }: SearchProps): Markup {
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
      <SelectField name="range" label="Time" options={ranges} selected={range} />{" "}
      <button type="submit">Show</button>
    </form>
  );
}

/** Properties of {@link PageLinks}. */
interface PageLinksProps {
  path: string;
  query: ListingQuery;
  listing: Listing<unknown>;
}

/** Links to the pages before and after. */
export function PageLinks({ path, query, listing }: PageLinksProps): Markup | null {
  const { q, range } = query;
  const { page, pages } = listing;
  if (pages === 1) return null;
  const link = (to: number, label: string): Markup | "" => {
    const search = new URLSearchParams({ ...(q && { q }), ...(range && { range }), page: String(to) });
    return to < 1 || to > pages ? "" : <a href={`${path}?${search}`}>{label}</a>;
  };
  return (
    <nav class="pages" aria-label="Pages of the list">
      {link(page - 1, "Newer")}{" "}
      <span class="soft">
        Page {page} of {pages}
      </span>{" "}
      {link(page + 1, "Older")}
    </nav>
  );
}
