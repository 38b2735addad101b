import type { Child } from "hono/jsx";
import type { Markup } from "./document.tsx";

/** Column of a {@link Table}. */
export interface Column<Row> {
  head: string;
  /** Default: the value of {@link Column.by}. */
  cell?(row: Row): Child;
  /** Value by which the rows can be put in order. Numbers begin with the highest. */
  by?(row: Row): string | number;
  /** `name`: names the row. `number`: aligned for comparison. `action`: buttons, whose head only screen readers get. */
  kind?: "name" | "number" | "action";
}

interface TableProps<Row> {
  /** Name of the region in which the table scrolls. */
  label: string;
  caption?: Child;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Makes the heads of columns with {@link Column.by} links that order the rows. */
  order?: Order;
}

/** Order of a list, which the address carries. */
interface Order {
  /** Name of a column, with a minus for the descending order. */
  sort: string | undefined;
  /** Returns the address of the same list in another order. */
  href(sort: string): string;
}

/** Name of a column in an address. */
const nameOf = (head: string): string => head.toLowerCase().replaceAll(" ", "-");

/** Returns the rows in the order that an address names; in their own order if it names no column. */
export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sort: string | undefined,
): readonly Row[] {
  const { by } = columns.find(({ head }) => nameOf(head) === sort?.replace(/^-/, "")) ?? {};
  if (by === undefined) return rows;
  const { compare } = new Intl.Collator("en", { numeric: true });
  const direction = sort?.startsWith("-") ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [by(one), by(other)];
    return direction * (typeof a === "number" && typeof b === "number" ? a - b : compare(`${a}`, `${b}`));
  });
}

function headCell<Row>({ head, kind, by }: Column<Row>, order?: Order, first?: Row): Markup {
  const isNumber = kind === "number" ? kind : undefined;
  if (by === undefined || order === undefined || first === undefined)
    return (
      <th scope="col" class={isNumber}>
        {kind === "action" ? <span class="unseen">{head}</span> : head}
      </th>
    );
  const name = nameOf(head);
  const down = `-${name}`;
  const present = order.sort === name ? "ascending" : order.sort === down ? "descending" : undefined;
  const begins = typeof by(first) === "number" ? down : name;
  const next = present === undefined ? begins : present === "ascending" ? down : name;
  return (
    <th scope="col" class={isNumber} aria-sort={present}>
      <a href={order.href(next)}>{head}</a>
    </th>
  );
}

/** A table. One that is wider than the page scrolls inside its region; on a phone each row becomes a card. */
export function Table<Row>({ label, caption, columns, rows, order }: TableProps<Row>): Markup {
  return (
    <div class="table" role="region" aria-label={label} tabindex={0}>
      <table>
        {caption !== undefined && <caption>{caption}</caption>}
        <thead>
          <tr>{columns.map((column) => headCell(column, order, rows[0]))}</tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {columns.map(({ head, kind, by, cell = by }) =>
                kind === "name" ? (
                  <th scope="row">{cell?.(row)}</th>
                ) : (
                  <td class={kind} data-column={kind === "action" ? undefined : head}>
                    {cell?.(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A name and its value; `undefined` leaves it out. */
type Fact = readonly [name: string, value: Markup | string | number | undefined];

/** Names with their values, one below the other. */
export function Facts({ facts }: { facts: readonly Fact[] }): Markup {
  return (
    <dl>
      {facts.map(
        ([name, value]) =>
          value !== undefined && (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ),
      )}
    </dl>
  );
}
