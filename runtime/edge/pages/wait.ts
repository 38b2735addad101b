import { html } from "hono/html";
import type { SandboxStatus } from "../../contract/control.ts";
import { reason, type Reason } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import { reasonBox, repairLink, stateLine } from "./home.ts";
import { page, type Markup } from "./layout.ts";
import { startProgress } from "./starts.ts";

/** Seconds after which the wait page looks again. */
export const WAIT_REFRESH_SECONDS = 2;

function adminLink(why: Reason | undefined): Markup | "" {
  if (why === undefined) return "";
  return html`<p class="soft">
    The operator finds the details in the <a href="${ROUTES.admin.path}">administration</a>.
  </p>`;
}

/** The page of `/` while the gateway is not ready: the cause, and on by itself once it is up. */
export function waitPage(status: SandboxStatus, refreshSeconds: number, now: number): Markup {
  // Everyone may look: neither paths nor names of the config.
  const known = status.reason && reason(status.reason.code);
  return page(
    "steward is not ready",
    html`<h1>steward</h1>
      ${stateLine(status)} ${startProgress(status, now)} ${reasonBox(known)} ${repairLink(status.reason)}
      ${adminLink(status.reason)}
      <p class="soft">This page refreshes every ${refreshSeconds} seconds.</p>`,
    { refreshSeconds },
  );
}
