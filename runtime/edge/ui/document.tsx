import { html } from "hono/html";
import type { Child } from "hono/jsx";
import type { Problem } from "../../contract/problem.ts";
import { ROUTES } from "../../contract/routes.ts";
import { type AssetName, assetPath } from "../assets.ts";

/** Rendered JSX. Interpolated values are escaped. */
export type Markup = ReturnType<typeof html>;

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%231d5cc0' d='M2 1h12a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2H8l-4 4v-4H2a2 2 0 0 1-2-2V3a2 2 0 0 1 2-2z'/%3E%3Cpath fill='none' stroke='%23fff' stroke-width='1.6' d='M4.5 6.5 7 9l4.5-5'/%3E%3C/svg%3E";

/** Allows styles and scripts from this origin only, and none inline. */
export const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

interface DocumentProps {
  title: string;
  children: Child;
  header?: Markup;
  shell?: boolean;
  /** Seconds until the page reloads, without scripts. */
  refreshSeconds?: number | undefined;
  /** Path to load at the reload, instead of the current address. */
  refreshTo?: string | undefined;
  scripts?: readonly AssetName[];
  /** True if a script may update the content without a reload. */
  live?: boolean;
  /** Revision from before the content was read. */
  revision?: string;
  notice?: Child;
}

export function Document(props: DocumentProps): Markup {
  const { title, children, header, shell, refreshSeconds, refreshTo, scripts = [], live, notice } = props;
  const { revision } = props;
  const refresh = refreshSeconds !== undefined && (
    <meta
      http-equiv="refresh"
      content={refreshTo === undefined ? `${refreshSeconds}` : `${refreshSeconds}; url=${refreshTo}`}
    />
  );
  return html`<!doctype html>${(
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          {/* Scripts update the page in place, so only browsers without them reload it. */}
          {live ? refresh && <noscript>{refresh}</noscript> : refresh}
          <title>{title}</title>
          <link rel="icon" href={ICON} />
          <link rel="stylesheet" href={assetPath("console.css")} />
          {scripts.map((script) => (
            <script type="module" src={assetPath(script)}></script>
          ))}
        </head>
        <body class={shell ? "shell" : undefined} data-live={live ? "" : undefined} data-revision={revision}>
          {header}
          <main id="content" tabindex={-1}>
            {children}
          </main>
          {notice}
        </body>
      </html>
    )}`;
}

/** Renders a problem for browsers. `form` is the refused form, shown for correction. */
export function ProblemPage({ title, detail, fix, code, status, form }: Problem & { form?: Markup }): Markup {
  return (
    <Document title={title}>
      <h1>{title}</h1>
      <p>{detail}</p>
      <aside>
        <p>
          <strong>Fix:</strong> {fix}
        </p>
      </aside>
      {form}
      <p class="soft">
        {status} <code>{code}</code>
      </p>
      <LinkLine look="button" href={ROUTES.admin.path}>
        Go to the overview
      </LinkLine>
    </Document>
  );
}

/** A box on a page. `href` leads to the complete list. */
export function Card({ title, href, children }: { title?: string; href?: string; children: Child }): Markup {
  return (
    <section class="card">
      {title !== undefined && <h2>{href === undefined ? title : <a href={href}>{title}</a>}</h2>}
      {children}
    </section>
  );
}

interface LinkLineProps {
  href: string;
  look?: "button" | "button primary";
  children: Child;
}

export function LinkLine({ href, look, children }: LinkLineProps): Markup {
  return (
    <p>
      <a class={look} href={href}>
        {children}
      </a>
    </p>
  );
}

/** Preformatted text that can be scrolled by keyboard. */
export function TextRegion({ label, children }: { label: string; children: string }): Markup {
  return (
    <pre role="region" tabindex={0} aria-label={label}>
      {children}
    </pre>
  );
}
