import type { Handler } from "hono";
import { html } from "hono/html";
import { StewardError } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables, Visitor } from "../access.ts";
import { readFields } from "../form.ts";
import { adminFrame, htmlPage, isPage } from "../pages/admin-frame.ts";
import { reasonBox, repairLink, stateLine } from "../pages/home.ts";
import type { Markup } from "../pages/layout.ts";
import type { RecordChange, Sandbox } from "../ports.ts";
import { attempt } from "../operate.ts";
import { type Flash, flashQuery, readFlash } from "./flash.ts";

const LIMIT_MS = 10_000;

/** `GET /_admin/restart`: asks before it is done. */
export function confirmRestart(): Handler<AccessVariables> {
  return async function handleConfirmRestart(context) {
    const visitor = await context.get("visitor")();
    return htmlPage(context, restartPage(visitor, readFlash(context)));
  };
}

/** Dependencies of a restart. */
interface RestartOptions {
  sandbox: Sandbox;
  log: Log;
  record: RecordChange;
}

/** `POST /_admin/restart`: restarts the gateway; starts a stopped container. */
export function restartGateway({ sandbox, log, record }: RestartOptions): Handler<AccessVariables> {
  return async function handleRestart(context) {
    const by = context.get("identity").name;
    const { facts } = await context.get("visitor")();
    // A gateway that runs on its old config would not come back with the new one.
    const invalid = facts.details?.config.problem;
    if (invalid !== undefined && facts.status.state === "ready") {
      return context.redirect(`${ROUTES.restartPage.path}${flashQuery("restarting", invalid.code)}`, 303);
    }
    log.info("operator restarts the gateway", { by });
    await record(by, "restart");
    const { value: failed, problem } = await attempt(LIMIT_MS, sandbox.restart());
    return context.redirect(`${ROUTES.admin.path}${flashQuery("restarting", failed ?? problem?.code)}`, 303);
  };
}

const PATH = /^\/_admin\/[a-z-]*$/;

/** `POST /_admin/wake`, field `page`: starts a stopped container, then back to that page of the navigation. */
export function wakeFromPage({ sandbox, log }: RestartOptions): Handler<AccessVariables> {
  return async function handleWake(context) {
    const { page } = await readFields(context.req.raw, { page: PATH });
    if (!isPage(page)) throw new StewardError("form_invalid");
    log.info("operator wakes the container", { by: context.get("identity").name });
    await sandbox.wake("operator");
    return context.redirect(`${page}${flashQuery("waking")}`, 303);
  };
}

/** The page of `/_admin/restart`: what a restart does, and the button. */
function restartPage(visitor: Visitor, flash: Flash): Markup {
  const { status, details } = visitor.facts;
  const invalid = status.state === "ready" ? details?.config.problem : undefined;
  const form = html`<p>
      The gateway restarts. Replies in progress are redone; messages that arrive meanwhile are queued.
    </p>
    <form method="post" action="${ROUTES.restart.path}">
      <button type="submit" class="primary">Restart the gateway</button>
    </form>`;
  return adminFrame(
    { title: "Restart", visitor, flash },
    html`${stateLine(status, visitor.health.overall)}
      ${
        invalid === undefined
          ? html`${reasonBox(status.reason)} ${form}`
          : html`${reasonBox(invalid)}
              <p>The gateway runs on the config before, and could not start with this one.</p>
              ${repairLink(invalid)}`
      }
      <p><a href="${ROUTES.admin.path}">Back to the overview</a></p>`,
  );
}
