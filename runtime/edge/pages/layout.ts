import { html, raw } from "hono/html";

/** Markup whose interpolated values are escaped already. */
export type Markup = ReturnType<typeof html>;

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d9dce1, #3a3f47); --soft: light-dark(#5b6470, #a3acb8);
  --ok: light-dark(#1a7f4b, #4cc38a); --bad: light-dark(#b3261e, #ff8a80); --page: light-dark(#fbfbfc, #16181c); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 44rem; margin: 0 auto; padding: 2.5rem 1.25rem; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
p { margin: .5rem 0; } .soft { color: var(--soft); } code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
.state::before { content: "●"; margin-right: .5rem; } .ok::before { color: var(--ok); } .bad::before { color: var(--bad); }
.wait::before { color: var(--soft); }
dl { display: grid; grid-template-columns: fit-content(50%) 1fr; gap: .35rem 1.25rem; margin: .75rem 0; }
dt { color: var(--soft); } dt, dd { margin: 0; overflow-wrap: anywhere; }
aside { border: 1px solid var(--line); border-left: 4px solid var(--bad); border-radius: 6px; padding: .75rem 1rem; margin: 1rem 0; }
form { display: flex; flex-direction: column; align-items: flex-start; gap: .5rem; margin: 1rem 0; max-width: 24rem; }
form.row { flex-direction: row; flex-wrap: wrap; align-items: flex-end; max-width: none; } .row label { display: flex; flex-direction: column; }
header { border-bottom: 1px solid var(--line); } header > div { max-width: 44rem; margin: 0 auto; padding: .75rem 1.25rem; }
header ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; margin: 0 0 .5rem; padding: 0; }
header form { margin: 0; } .who { display: flex; align-items: center; justify-content: space-between; gap: 1rem; } header p { overflow-wrap: anywhere; margin: 0; }
a { color: light-dark(#1f5fbf, #8ab8ff); } a[aria-current] { color: inherit; font-weight: 600; text-decoration: none; }
.skip { position: absolute; left: -99rem; } .skip:focus { left: .5rem; top: .5rem; background: var(--page); padding: .5rem; }
.cards { list-style: none; padding: 0; margin: .75rem 0; display: grid; gap: .75rem; grid-template-columns: minmax(0, 1fr); }
.cards > li { border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem; } h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
.actions { display: flex; flex-wrap: wrap; gap: .5rem; } .actions form { margin: .25rem 0; } aside.done { border-left-color: var(--ok); }
[hidden], .row[hidden] { display: none; } #output { word-break: break-all; } .follows { max-height: 70vh; overflow-y: auto; }
pre { border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere; font: .85em/1.45 ui-monospace, monospace; }
dl.stack { grid-template-columns: minmax(0, 1fr); gap: 0; } .stack dd { margin-bottom: .6rem; } aside h2 { margin-top: 0; }
.table { overflow-x: auto; margin: .75rem 0; } table { border-collapse: collapse; width: 100%; } caption { text-align: left; color: var(--soft); padding-bottom: .5rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
th[scope=row] { font-weight: normal; overflow-wrap: anywhere; min-width: 7rem; } .number { text-align: right; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.diff > * { display: block; text-decoration: none; padding-left: 2ch; text-indent: -2ch; position: relative; }
.diff ins { background: light-dark(#dff3e6, #173524); } .diff del { background: light-dark(#fbe3e1, #45201d); }
.chart { display: block; width: 100%; height: 7rem; border-bottom: 1px solid var(--line); margin: .5rem 0 0; }
rect { fill: light-dark(#1f5fbf, #8ab8ff); } rect + rect { fill: light-dark(#c2661a, #f0a868); }
.ends, .legend { display: flex; gap: 1rem; color: var(--soft); font-size: .85rem; } .ends { justify-content: space-between; margin: .25rem 0 .75rem; }
.legend { margin: 0; } .legend > ::before { content: ""; display: inline-block; width: .7rem; height: .7rem; margin-right: .4rem; background: light-dark(#1f5fbf, #8ab8ff); }
.legend > :last-child::before { background: light-dark(#c2661a, #f0a868); } summary { cursor: pointer; } section { margin: 1.5rem 0; }
.cell { display: block; width: 100%; height: .3rem; margin-top: .3rem; } .number { white-space: nowrap; font-variant-numeric: tabular-nums; }
form.wide { max-width: none; } textarea { width: 100%; resize: vertical; }
select, input, button { min-height: 2.6rem; } select, input, textarea, button { font: inherit; color: inherit; background: var(--page); border: 1px solid var(--line); border-radius: 6px;
  padding: .5rem .75rem; } textarea { font: .85em/1.45 ui-monospace, monospace; } input { width: 100%; } button { cursor: pointer; }
input[type=radio] { width: auto; margin: 0; } fieldset { border: 1px solid var(--line); border-radius: 6px; margin: 0; padding: .5rem 1rem; }
fieldset label { display: flex; gap: .5rem; align-items: baseline; margin: .25rem 0; } progress { width: 100%; height: .75rem; accent-color: light-dark(#1f5fbf, #8ab8ff); }
summary { cursor: pointer; }
:focus-visible { outline: 2px solid light-dark(#1f5fbf, #8ab8ff); outline-offset: 1px; }
`;

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
  return `default-src 'none';${scripts} style-src ${await hashSource(STYLE)}; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;
}

/** Parts of a page beside its content. */
export interface PageOptions {
  /** Makes it load again by itself, without a script. */
  refreshSeconds?: number | undefined;
  /** Before the content: the way to the other pages. */
  header?: Markup;
  /** Script of the page, beside what it can without: its policy has to name it, too. */
  script?: string | undefined;
}

/** A whole page. */
export function page(
  title: string,
  content: Markup,
  { refreshSeconds, header, script }: PageOptions = {},
): Markup {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        ${refreshSeconds === undefined ? "" : html`<meta http-equiv="refresh" content="${refreshSeconds}" />`}
        <title>${title}</title>
        ${raw(STYLE_ELEMENT)}
      </head>
      <body>
        ${header ?? ""}
        <main id="content" tabindex="-1">${content}</main>
        ${script === undefined ? "" : raw(`<script type="module">${script}</script>`)}
      </body>
    </html>`;
}
