import type { Handler } from "hono";
import { html } from "hono/html";
import type { SandboxStatus } from "../../contract/control.ts";
import type { Log } from "../../contract/log.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { adminFrame, type Visitor } from "../pages/admin-frame.ts";
import { reasonBox, stateLine } from "../pages/home.ts";
import { contentSecurityPolicy, type Markup } from "../pages/layout.ts";
import type { Sandbox } from "../ports.ts";
import { attempt } from "../operate.ts";
import { flashQuery } from "./flash.ts";

const LIMIT_MS = 10_000;

/** `GET /_admin/restart`: asks before it is done. */
export function confirmRestart(sandbox: Sandbox, signsOut: boolean): Handler<AccessVariables> {
  return async function handleConfirmRestart(context) {
    const visitor = { identity: context.get("identity"), signsOut };
    context.header("content-security-policy", await contentSecurityPolicy());
    return context.html(restartPage({ visitor, status: await sandbox.status() }));
  };
}

/** `POST /_admin/restart`: restarts the gateway; starts a stopped container. */
export function restartGateway(sandbox: Sandbox, log: Log): Handler<AccessVariables> {
  return async function handleRestart(context) {
    log.info("operator restarts the gateway", { by: context.get("identity").name });
    const { value: failed, problem } = await attempt(LIMIT_MS, sandbox.restart());
    return context.redirect(`${ROUTES.admin.path}${flashQuery("restarting", failed ?? problem?.code)}`, 303);
  };
}

/** The page of `/_admin/restart`: what a restart does, and the button. */
function restartPage({ visitor, status }: { visitor: Visitor; status: SandboxStatus }): Markup {
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
