import { html } from "hono/html";
import type { Reason } from "../../contract/errors.ts";
import type { SandboxStatus } from "../../contract/control.ts";
import { ROUTES } from "../../contract/routes.ts";
import { faultOf, type Overall } from "../health.ts";
import { page, type Markup } from "./layout.ts";

const HEADLINES: Record<SandboxStatus["state"], string> = {
  ready: "The gateway is up",
  starting: "The gateway is starting",
  stopped: "The gateway is asleep; a message wakes it",
  "crash-looping": "The gateway cannot start",
};

const MUTE = "The gateway runs, but nobody gets an answer";

const TONES: Record<SandboxStatus["state"], string> = {
  ready: "ok",
  starting: "wait",
  stopped: "wait",
  "crash-looping": "bad",
};

/**
 * A line that tells a state by colour and by word. `overall` is that of the whole deployment, where it is known: the line
 * never says that all is well beside a header that says otherwise.
 */
export function stateLine(status: SandboxStatus, overall?: Overall): Markup {
  const { state } = status;
  const isMute = state === "ready" && (overall === "Down" || faultOf(status) !== undefined);
  const [tone, headline] = isMute ? ["bad", MUTE] : [TONES[state], HEADLINES[state]];
  return html`<p class="state ${tone}" role="status">${headline}</p>`;
}

/** Renders what went wrong and what to do. */
export function reasonBox(reason: Reason | undefined): Markup | "" {
  return reason === undefined ? "" : html`<aside>${reasonText(reason)}</aside>`;
}

/** Renders what went wrong with what somebody just asked for, so that it is read aloud. */
export function alertBox(reason: Reason | undefined): Markup | "" {
  return reason === undefined ? "" : html`<div role="alert">${reasonBox(reason)}</div>`;
}

/** Renders a reason and its fix without a box of its own. A detail may have several lines. */
export function reasonText({ code, detail, fix }: Reason): Markup {
  return html`<p class="lines"><code>${code}</code>: ${detail}</p>
    <p><strong>Fix:</strong> ${fix}</p>`;
}

/** The link to the repairs of an invalid config; it leads through the sign-in. */
export function repairLink(reason: Reason | undefined): Markup | "" {
  if (reason?.code !== "config_invalid") return "";
  return html`<p><a href="${ROUTES.configPage.path}#repairs">Repair the configuration</a></p>`;
}

/** The page of `/` while the gateway is ready. */
export function homePage(status: SandboxStatus): Markup {
  return page(
    "steward",
    html`<h1>steward</h1>
      <p class="soft">An assistant gateway: chat platforms on one side, a model provider on the other.</p>
      ${stateLine(status)}
      <p><a href="/_admin/">Administration</a></p>`,
  );
}
