import { html } from "hono/html";
import type { Markup } from "./layout.ts";

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** Renders how long ago something was, in words, with the exact time behind them. */
export function age(at: number, now: number): Markup {
  const exact = new Date(at).toISOString();
  return html`<time datetime="${exact}" title="${exact}">${inWords(now - at)}</time>`;
}

/** Renders when something was or will be, to the second, as people read it. */
export function moment(at: string): Markup {
  const [day = "", time = ""] = at.split("T");
  return html`<time datetime="${at}">${day} ${time.slice(0, 8)} UTC</time>`;
}

function inWords(milliseconds: number): string {
  const unit = UNITS.find(([, length]) => milliseconds >= length);
  if (unit === undefined) return "less than a minute ago";
  const count = Math.floor(milliseconds / unit[1]);
  return `${count} ${unit[0]}${count === 1 ? "" : "s"} ago`;
}
