import type { Handler } from "hono";
import type { AccessVariables } from "../access.ts";
import { gatewayDetails } from "../debug-routes.ts";
import { channelsPage } from "../pages/channels.ts";
import type { Clock, Sandbox } from "../ports.ts";
import { htmlPage } from "./html-page.ts";

/** `GET /_admin/channels`: how chat platforms and models stand, as the gateway sees them; wakes nothing. */
export function showChannels(sandbox: Sandbox, clock: Clock, signsOut: boolean): Handler<AccessVariables> {
  return async function handleChannels(context) {
    const [status, details] = await Promise.all([sandbox.status(), gatewayDetails(sandbox)]);
    const visitor = { identity: context.get("identity"), signsOut };
    return htmlPage(context, channelsPage({ visitor, status, details, now: clock() }));
  };
}
