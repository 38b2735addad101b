import type { Handler } from "hono";
import { CONTROL_ROUTES } from "../../contract/control.ts";
import { StewardError } from "../../contract/errors.ts";
import type { Log } from "../../contract/log.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { contentSecurityPolicy } from "../pages/layout.ts";
import { restartPage } from "../pages/restart.ts";
import type { Sandbox } from "../ports.ts";
import { attempt } from "./attempt.ts";
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

/** `POST /_admin/restart`: stops the gateway and starts it anew. One that is stopped is left so. */
export function restartGateway(sandbox: Sandbox, log: Log): Handler<AccessVariables> {
  return async function handleRestart(context) {
    log.info("operator restarts the gateway", { by: context.get("identity").name });
    const { problem } = await attempt(LIMIT_MS, restart(sandbox));
    return context.redirect(`${ROUTES.admin.path}${flashQuery("restarting", problem?.code)}`, 303);
  };
}

async function restart(sandbox: Sandbox): Promise<void> {
  if ((await sandbox.status()).state === "stopped") throw new StewardError("gateway_not_ready");
  const response = await sandbox.request("supervisor", { method: "POST", path: CONTROL_ROUTES.restart });
  if (!response.ok) throw new StewardError("gateway_unavailable");
}
