import type { Child } from "hono/jsx";
import type { Markup } from "./document.tsx";

/** Column of a {@link Table}. */
interface Column<Row> {
  head: string;
  cell(row: Row): Child;
  /** `name`: names the row. `number`: aligned for comparison. `action`: buttons, whose head only screen readers get. */
  kind?: "name" | "number" | "action";
}

/** Properties of {@link Table}. */
interface TableProps<Row> {
  /** Name of the region in which the table scrolls. */
  label: string;
  caption?: Child;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
}

/** A table. One that is wider than the page scrolls inside its region; on a phone each row becomes a card. */
export function Table<Row>({ label, caption, columns, rows }: TableProps<Row>): Markup {
  return (
    <div class="table" role="region" aria-label={label} tabindex={0}>
      <table>
        {caption !== undefined && <caption>{caption}</caption>}
        <thead>
          <tr>
            {columns.map(({ head, kind }) => (
              <th scope="col" class={kind === "number" ? kind : undefined}>
                {kind === "action" ? <span class="unseen">{head}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {columns.map(({ head, kind, cell }) =>
                kind === "name" ? (
                  <th scope="row">{cell(row)}</th>
                ) : (
                  <td class={kind} data-column={kind === "action" ? undefined : head}>
                    {cell(row)}
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

/** Properties of {@link PlainTable}. */
interface PlainTableProps {
  label: string;
  caption?: string | Markup;
  columns: readonly (string | { number: string } | { unseen: string })[];
  /** `tr` elements. */
  rows: readonly Markup[];
}

/** A table whose rows are `tr` elements, until its page uses {@link Table}. */
export function PlainTable({ label, caption, columns, rows }: PlainTableProps): Markup {
  return (
    <div class="table" role="region" aria-label={label} tabindex={0}>
      <table>
        {caption !== undefined && <caption>{caption}</caption>}
        <thead>
          <tr>
            {columns.map((column) => {
              if (typeof column === "string") return <th scope="col">{column}</th>;
              const unseen = "unseen" in column && <span class="unseen">{column.unseen}</span>;
              return (
                <th scope="col" class={unseen ? undefined : "number"}>
                  {unseen || ("number" in column && column.number)}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>{rows}</tbody>
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
