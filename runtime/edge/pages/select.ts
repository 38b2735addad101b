import { html } from "hono/html";
import type { Markup } from "./layout.ts";

/** A labelled choice of one value; `selected` is the value that is chosen at first. */
export function selectField(
  name: string,
  label: string,
  options: readonly (readonly [value: string, text: string])[],
  selected: string | undefined,
): Markup {
  return html`<label
    >${label}
    <select name="${name}">
      ${options.map(
        ([value, text]) =>
          html`<option value="${value}" ${value === selected ? "selected" : ""}>${text}</option>`,
      )}
    </select></label
  >`;
}

/**
 * A text area with all of its text: a line feed right after the tag is the tag's own
 * (https://html.spec.whatwg.org/multipage/syntax.html#element-restrictions).
 */
export function textArea(attributes: Markup, text: string): Markup {
  const start = html`<textarea ${attributes}>`;
  return html`${start}${"\n"}${text}</textarea>`;
}
