import { html } from "hono/html";
import type { Markup } from "./layout.ts";

/** Head of a column. */
type Column = string | { number: string } | { unseen: string };

/** Content of a table. */
interface TableParts {
  /** Name of the region that it scrolls in. */
  label: string;
  caption?: string | Markup;
  columns: readonly Column[];
  /** `tr` elements. */
  rows: readonly Markup[];
}

/** Returns a table. One that is wider than the page scrolls inside its region. */
export function dataTable({ label, caption, columns, rows }: TableParts): Markup {
  return html`<div class="table" role="region" aria-label="${label}" tabindex="0">
    <table>
      ${
        caption === undefined
          ? ""
          : html`<caption>
              ${caption}
            </caption>`
      }
      <thead>
        <tr>
          ${columns.map(head)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

/** A name and what it has; `undefined` leaves it out. */
type Fact = readonly [name: string, value: Markup | string | number | undefined];

/** Returns names with their values, one below the other. */
export function factList(facts: readonly Fact[]): Markup {
  const shown = facts.filter(([, value]) => value !== undefined);
  return html`<dl>
    ${shown.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}

function head(column: Column): Markup {
  if (typeof column === "string") return html`<th scope="col">${column}</th>`;
  return "number" in column
    ? html`<th scope="col" class="number">${column.number}</th>`
    : html`<th scope="col"><span class="unseen">${column.unseen}</span></th>`;
}
