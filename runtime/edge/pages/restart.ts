import { html } from "hono/html";
import type { SandboxStatus } from "../../contract/control.ts";
import { ROUTES } from "../../contract/routes.ts";
import { adminFrame, type Visitor } from "./admin-frame.ts";
import { reasonBox, stateLine } from "./home.ts";
import type { Markup } from "./layout.ts";

/** The page of `/_admin/restart`: what a restart does, and the button. */
export function restartPage({ visitor, status }: { visitor: Visitor; status: SandboxStatus }): Markup {
  const form = html`<p>
      The gateway restarts. Replies in progress are redone; messages that arrive meanwhile are queued.
    </p>
    <form method="post" action="${ROUTES.restart.path}">
      <button type="submit">Restart the gateway</button>
    </form>`;
  return adminFrame(
    { title: "Restart", visitor },
    html`${stateLine(status)} ${reasonBox(status.reason)} ${form}
      <p><a href="${ROUTES.admin.path}">Back to the overview</a></p>`,
  );
}
