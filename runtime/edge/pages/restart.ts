import { html } from "hono/html";
import type { SandboxStatus } from "../../contract/control.ts";
import { ROUTES } from "../../contract/routes.ts";
import { adminFrame, type Visitor } from "./admin-frame.ts";
import { reasonBox, stateLine } from "./home.ts";
import type { Markup } from "./layout.ts";

/** The page of `/_admin/restart`: what a restart does, and the button. */
export function restartPage({ visitor, status }: { visitor: Visitor; status: SandboxStatus }): Markup {
  const form = html`<p>
      The gateway is stopped and started anew. Answers under way are made again; messages that come meanwhile
      are kept and answered.
    </p>
    <form method="post" action="${ROUTES.restart.path}">
      <button type="submit">Restart the gateway</button>
    </form>`;
  const stopped = html`<p>It is not running, so there is nothing to restart.</p>`;
  return adminFrame(
    { title: "Restart", visitor },
    html`${stateLine(status)} ${reasonBox(status.reason)} ${status.state === "stopped" ? stopped : form}
      <p><a href="${ROUTES.admin.path}">Back to the overview</a></p>`,
  );
}
