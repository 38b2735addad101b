import type { Child } from "hono/jsx";
import type { Markup } from "./document.tsx";

export interface Column<Row> {
  head: string;
  /** Default: the value of {@link Column.by}. */
  cell?(row: Row): Child;
  /** Sort key. Numbers sort descending first. */
  by?(row: Row): string | number;
  /**
   * `name`: identifies the row. `number`: aligned as a figure. `action`: contains buttons; only screen readers see its
   * header.
   */
  kind?: "name" | "number" | "action";
}

interface TableProps<Row> {
  label: string;
  caption?: Child;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Current order of the rows. If set, headers of columns with {@link Column.by} become links that sort the rows. */
  order?: Order;
}

interface Order {
  /** Column name, prefixed with a minus for descending order. */
  sort: string | undefined;
  href(sort: string): string;
}

const nameOf = (head: string): string => head.toLowerCase().replaceAll(" ", "-");

/** Sorts rows by the column in the URL. Returns them unchanged if `sort` names no sortable column. */
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

/** Renders a table that scrolls horizontally if needed. On a phone, each row becomes a card. */
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

/** A name and its value. `undefined` omits the entry. */
type Fact = readonly [name: string, value: Markup | string | number | undefined];

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
