import { html, raw } from "hono/html";
import type { Problem } from "../../contract/problem.ts";
import { ROUTES } from "../../contract/routes.ts";

/** Markup whose interpolated values are escaped already. */
export type Markup = ReturnType<typeof html>;

const STYLE = `
:root { color-scheme: light dark;
  --page: light-dark(#f6f7f9, #14161a); --card: light-dark(#fff, #1c1f25); --text: light-dark(#1b1f24, #e7e9ec);
  --line: light-dark(#dde1e6, #343a43); --soft: light-dark(#59626e, #a4adb9); --link: light-dark(#1d5cc0, #8ab8ff);
  --ok: light-dark(#17703f, #55cc90); --bad: light-dark(#b3261e, #ff8f86); --warn: light-dark(#8a5300, #f2b45c);
  --accent: light-dark(#1d5cc0, #8ab8ff); --on-accent: light-dark(#fff, #10213c); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 44rem; margin: 0 auto; padding: 2rem 1.25rem; min-width: 0; width: 100%; }
h1 { font-size: 1.5rem; margin: 0 0 1rem; letter-spacing: -.01em; } h2 { font-size: 1.05rem; margin: 1.75rem 0 .5rem; }
h3 { font-size: .95rem; margin: 0; overflow-wrap: anywhere; } p { margin: .5rem 0; } a { color: var(--link); }
.soft, dt, caption { color: var(--soft); } code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
.shell main { max-width: none; margin: 0; padding: 1.25rem; }
.shell > header { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1rem; padding: .6rem 1.25rem; background: var(--card);
  border-bottom: 1px solid var(--line); }
header p, header form { margin: 0; overflow-wrap: anywhere; } .brand { font-weight: 650; } .brand a { color: inherit; text-decoration: none; margin-right: .35rem; }
.who { margin-left: auto; display: flex; align-items: center; gap: .75rem; }
.badge { display: inline-block; border: 1px solid currentColor; border-radius: 99px; padding: 0 .6rem; font-size: .82rem; font-weight: 600; white-space: nowrap; }
.badge.ok { color: var(--ok); } .badge.bad { color: var(--bad); } .badge.warn { color: var(--warn); } .badge.wait, .badge.environment { color: var(--soft); }
.badge.production { background: light-dark(#b3261e, #ff8f86); color: light-dark(#fff, #3a0905); border-color: transparent; }
.side { padding: .5rem .75rem; } .side ul { list-style: none; margin: 0; padding: 0; display: grid; gap: .1rem; }
.side li { display: flex; align-items: center; gap: .4rem; } .side a { flex: 1; display: block; padding: .4rem .7rem; border-radius: 6px; color: inherit; text-decoration: none; } .side a:hover { background: var(--card); }
.side a[aria-current] { background: var(--card); box-shadow: inset 3px 0 var(--accent); font-weight: 600; }
.menu { display: block; padding: .6rem 1.25rem; cursor: pointer; font-weight: 600; } #menu:focus-visible + .menu { outline: 2px solid var(--accent); }
@media (max-width: 55.99rem) { #menu:not(:checked) ~ .side { display: none; } .side { border-bottom: 1px solid var(--line); } }
@media (min-width: 56rem) { .shell { display: grid; grid-template-columns: 13rem minmax(0, 1fr); grid-template-rows: auto 1fr; min-height: 100vh; }
  .shell > header { grid-column: 1 / -1; } .menu, #menu { display: none; } .side { padding-top: 1.25rem; border-right: 1px solid var(--line); }
  .shell main { padding: 1.25rem 2rem 3rem; } }
.state::before { content: "●"; margin-right: .5rem; } .ok::before { color: var(--ok); } .bad::before { color: var(--bad); } .wait::before { color: var(--soft); }
.warn::before { color: var(--warn); } .badge::before { content: none; }
dl { display: grid; grid-template-columns: fit-content(50%) minmax(0, 1fr); gap: .3rem 1.25rem; margin: .6rem 0; } dt, dd { margin: 0; overflow-wrap: anywhere; }
dl.stack { grid-template-columns: minmax(0, 1fr); gap: 0; } .stack dd { margin-bottom: .6rem; }
aside { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--bad); border-radius: 8px; padding: .6rem 1rem; margin: .75rem 0; }
.mark { color: var(--bad); margin-top: -.25rem; } [aria-invalid] { border-color: var(--bad); }
.talk { list-style: none; padding: 0; display: grid; gap: .5rem; max-width: 50rem; } .pages { display: flex; gap: 1rem; margin: .75rem 0; }
.asof { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1rem; color: var(--soft); } .asof form, .asof p { margin: 0; }
.lines { white-space: pre-line; } aside.done { border-left-color: var(--ok); } aside h2, aside h3 { margin-top: 0; }
.grid { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); margin: 1rem 0; }
.card, .cards > li { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; min-width: 0; } .card > h2:first-child { margin-top: 0; }
.cards { list-style: none; padding: 0; margin: .75rem 0; display: grid; gap: .75rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); }
.stats { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(7rem, 1fr)); margin: 1rem 0; }
.stats > div { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .6rem 1rem; } .stats dd { font-size: 1.5rem; font-weight: 600; font-variant-numeric: tabular-nums; }
form { display: flex; flex-direction: column; align-items: flex-start; gap: .5rem; margin: 1rem 0; max-width: 24rem; } form.wide { max-width: none; }
form.row { flex-direction: row; flex-wrap: wrap; align-items: flex-end; max-width: none; } form.row > label { display: flex; flex-direction: column; width: auto; }
.actions { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; } .actions form, td form { margin: .25rem 0; }
select, input, textarea, button, .button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .4rem .8rem; }
select, input, button, .button { min-height: 2.4rem; max-width: 100%; } form > label { display: block; width: 100%; } label select { display: block; } textarea { width: 100%; resize: vertical; font: .87em/1.45 ui-monospace, monospace; } input { width: 100%; }
button, .button { cursor: pointer; font-weight: 550; text-decoration: none; display: inline-block; } button:hover, .button:hover { border-color: var(--soft); }
button.primary, .button.primary { background: var(--accent); color: var(--on-accent); border-color: transparent; }
button.danger { color: var(--bad); border-color: currentColor; }
input[type=radio], input[type=checkbox] { width: auto; margin: 0; min-height: 0; } fieldset { border: 1px solid var(--line); border-radius: 6px; margin: 0; padding: .5rem 1rem; }
fieldset label { display: flex; gap: .5rem; align-items: baseline; margin: .25rem 0; } summary { cursor: pointer; }
progress { width: 100%; height: .75rem; accent-color: var(--accent); }
.skip { position: absolute; left: -99rem; } .skip:focus { left: .5rem; top: .5rem; background: var(--page); padding: .5rem; z-index: 1; }
[hidden], .row[hidden] { display: none; } #output { word-break: break-word; } .follows { max-height: 70vh; overflow-y: auto; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .75rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere; font: .85em/1.45 ui-monospace, monospace; }
.table { overflow-x: auto; margin: .75rem 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px; } table { border-collapse: collapse; width: 100%; }
caption { text-align: left; padding: .6rem .9rem; } th, td { text-align: left; vertical-align: top; padding: .45rem .9rem; border-top: 1px solid var(--line); }
thead th { font-size: .85rem; color: var(--soft); font-weight: 600; } tbody tr:hover { background: var(--page); } th[scope=row] { font-weight: normal; overflow-wrap: anywhere; min-width: 7rem; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.unseen { position: absolute; width: 1px; height: 1px; min-height: 0; padding: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.diff > * { display: block; text-decoration: none; padding-left: 2ch; text-indent: -2ch; position: relative; }
.diff ins { background: light-dark(#dff3e6, #173524); } .diff del { background: light-dark(#fbe3e1, #45201d); }
.plot { display: grid; grid-template-columns: auto 1fr; gap: 0 .5rem; margin: .5rem 0 0; }
.scale { display: flex; flex-direction: column; justify-content: space-between; height: 8.125rem;
  margin: -.5625rem 0; text-align: right; font-size: .75rem; color: var(--soft); }
.chart { display: block; width: 100%; height: 7rem; border-bottom: 1px solid var(--line); }
.chart line { stroke: var(--line); vector-effect: non-scaling-stroke; } .plot .ends { grid-column: 2; }
rect { fill: light-dark(#1f5fbf, #8ab8ff); } rect + rect { fill: light-dark(#c2661a, #f0a868); }
.ends, .legend { display: flex; gap: 1rem; color: var(--soft); font-size: .85rem; } .ends { justify-content: space-between; margin: .25rem 0 .75rem; }
.legend { margin: 0; } .legend > ::before { content: ""; display: inline-block; width: .7rem; height: .7rem; margin-right: .4rem; background: light-dark(#1f5fbf, #8ab8ff); }
.legend > :last-child::before { background: light-dark(#c2661a, #f0a868); } section { margin: 1.5rem 0; } .grid > section { margin: 0; }
.cell { display: block; width: 100%; height: .3rem; margin-top: .3rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
`;

/** A speech bubble with a tick. */
const ICON = `<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%231d5cc0' d='M2 1h12a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2H8l-4 4v-4H2a2 2 0 0 1-2-2V3a2 2 0 0 1 2-2z'/%3E%3Cpath fill='none' stroke='%23fff' stroke-width='1.6' d='M4.5 6.5 7 9l4.5-5'/%3E%3C/svg%3E" />`;

// One piece, since the policy's hash counts every space between the tags.
const STYLE_ELEMENT = `<style>${STYLE}</style>`;

/** The source of a policy that allows one inline script or style: https://www.w3.org/TR/CSP3/#hash-source */
export async function hashSource(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `'sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}'`;
}

/** The policy that fits these pages: no style but this one, and no script but the one that a page names. */
export async function contentSecurityPolicy(script?: string): Promise<string> {
  const scripts = script === undefined ? "" : ` script-src ${await hashSource(script)}; connect-src 'self';`;
  return `default-src 'none';${scripts} style-src ${await hashSource(STYLE)}; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;
}

/** Parts of a page beside its content. */
export interface PageOptions {
  /** Makes the page reload automatically, without a script. */
  refreshSeconds?: number | undefined;
  /** Path to load then. Default: the same address. */
  refreshTo?: string | undefined;
  /** Before the content: the way to the other pages. */
  header?: Markup;
  /** Lays the header, a side navigation and the content out as an application. */
  shell?: boolean;
  /** Script of the page, beside what it can without: its policy has to name it, too. */
  script?: string | undefined;
}

function refreshPart(seconds: number, to: string | undefined, hasScript: boolean): Markup {
  const content = to === undefined ? `${seconds}` : `${seconds}; url=${to}`;
  const element = html`<meta http-equiv="refresh" content="${content}" />`;
  // A script does better: it loads what has changed, and leaves the rest.
  return hasScript ? html`<noscript>${element}</noscript>` : element;
}

/** A whole page. */
export function page(
  title: string,
  content: Markup,
  { refreshSeconds, refreshTo, header, shell = false, script }: PageOptions = {},
): Markup {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        ${refreshSeconds === undefined ? "" : refreshPart(refreshSeconds, refreshTo, script !== undefined)}
        <title>${title}</title>
        ${raw(ICON)} ${raw(STYLE_ELEMENT)}
      </head>
      <body class="${shell ? "shell" : ""}">
        ${header ?? ""}
        <main id="content" tabindex="-1">${content}</main>
        ${script === undefined ? "" : raw(`<script type="module">${script}</script>`)}
      </body>
    </html>`;
}

/** Renders the page that a browser gets in place of a problem document. */
export function problemPage({ title, detail, fix, code, status }: Problem): Markup {
  return page(
    title,
    html`<h1>${title}</h1>
      <p>${detail}</p>
      <aside>
        <p><strong>Fix:</strong> ${fix}</p>
      </aside>
      <p class="soft">${status} <code>${code}</code></p>
      <p><a class="button" href="${ROUTES.admin.path}">Go to the overview</a></p>`,
  );
}
