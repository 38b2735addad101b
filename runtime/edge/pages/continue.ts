import { html } from "hono/html";
import { page, type Markup } from "./layout.ts";

/**
 * The page before an address that somebody was led to from elsewhere: another site, or the sign-in. The button sends the
 * same request from this page. Without a click nothing happens: a link must not run a command by its query.
 *
 * @param address a path of this site, with its query.
 * @param method `post` where the address changes something.
 */
export function continuePage(address: string, method: "get" | "post" = "get"): Markup {
  const { pathname, searchParams } = new URL(address, "http://here.invalid");
  const fields = [...searchParams].map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  );
  const shown = [...searchParams].map(
    ([name, value]) =>
      html`<dt>${name}</dt>
        <dd>${value}</dd>`,
  );
  return page(
    "Continue?",
    html`<h1>Continue to ${pathname}?</h1>
      <p>No page of this service led you here. Continue only if you meant to open this:</p>
      <dl>
        <dt>Address</dt>
        <dd><code>${pathname}</code></dd>
        ${shown}
      </dl>
      <form method="${method}" action="${pathname}">
        ${fields}
        <button type="submit" autofocus>Continue</button>
      </form>`,
  );
}
