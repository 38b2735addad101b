import type { Context } from "hono";
import { html } from "hono/html";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import { DONE, type Flash } from "../admin/flash.ts";
import type { Identity } from "../identity.ts";
import { signOutForm } from "../sign-in.ts";
import { reasonBox } from "./home.ts";
import { contentSecurityPolicy, type Markup, page } from "./layout.ts";

/** Visitor of a page, and whether this service holds the session, so that it offers to end it. */
export interface Visitor {
  identity: Identity;
  signsOut: boolean;
}

/** The administration's pages, in the order of the navigation. */
const PAGES = [
  [ROUTES.admin.path, "Overview"],
  [ROUTES.devicesPage.path, "Devices"],
  [ROUTES.channelsPage.path, "Channels"],
  [ROUTES.sessionsPage.path, "Sessions"],
  [ROUTES.usagePage.path, "Usage"],
  [ROUTES.ledgerPage.path, "Ledger"],
  [ROUTES.logsPage.path, "Logs"],
  [ROUTES.configPage.path, "Configuration"],
  [ROUTES.backupsPage.path, "Backups"],
] as const;

/** A page's own part within the frame. */
interface FrameOptions {
  title: string;
  visitor: Visitor;
  flash?: Flash;
  refreshSeconds?: number | undefined;
  script?: string | undefined;
}

/** A page of the administration: the way to the others, who is signed in, what the last button did. */
export function adminFrame(options: FrameOptions, content: Markup): Markup {
  const { title, visitor, flash, refreshSeconds, script } = options;
  const header = html`<a class="skip" href="#content">Skip to the content</a>
    <header>
      <div>
        <nav aria-label="Administration">
          <ul>
            ${PAGES.map(
              ([path, name]) =>
                html`<li>
                  <a href="${path}" ${name === title ? html`aria-current="page"` : ""}>${name}</a>
                </li>`,
            )}
          </ul>
        </nav>
        <div class="who">
          <p class="soft">Signed in as ${visitor.identity.name}</p>
          ${visitor.signsOut ? signOutForm() : ""}
        </div>
      </div>
    </header>`;
  const body = html`<h1>${title}</h1>
    ${flashBox(flash)} ${content}`;
  return page(`${title} – steward administration`, body, { refreshSeconds, header, script });
}

function flashBox({ done, problem }: Flash = {}): Markup | "" {
  if (problem !== undefined) return html`<div role="alert">${reasonBox(reason(problem))}</div>`;
  return done === undefined ? "" : html`<aside class="done" role="status"><p>${DONE[done]}</p></aside>`;
}

/** Answers with a page and the policy that fits it. */
export async function htmlPage(
  context: Context,
  markup: Markup,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  context.header("content-security-policy", await contentSecurityPolicy());
  return context.html(markup, status);
}
