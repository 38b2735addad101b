import type { Markup } from "./document.tsx";

/** Head of a column. */
type Column = string | { number: string } | { unseen: string };

/** Properties of {@link Table}. */
interface TableProps {
  /** Name of the region in which the table scrolls. */
  label: string;
  caption?: string | Markup;
  columns: readonly Column[];
  /** `tr` elements. */
  rows: readonly Markup[];
}

/** A table. One that is wider than the page scrolls inside its region. */
export function Table({ label, caption, columns, rows }: TableProps): Markup {
  return (
    <div class="table" role="region" aria-label={label} tabindex={0}>
      <table>
        {caption !== undefined && <caption>{caption}</caption>}
        <thead>
          <tr>
            {columns.map((column) => {
              if (typeof column === "string") return <th scope="col">{column}</th>;
              if ("unseen" in column)
                return (
                  <th scope="col">
                    <span class="unseen">{column.unseen}</span>
                  </th>
                );
              return (
                <th scope="col" class="number">
                  {column.number}
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
