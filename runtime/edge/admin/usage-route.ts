import type { Handler } from "hono";
import type { AccessVariables } from "../access.ts";
import { gatewayUsage } from "../debug-routes.ts";
import { usagePage } from "../pages/usage.ts";
import type { Sandbox } from "../ports.ts";
import { htmlPage } from "./html-page.ts";

/** `GET /_admin/usage`: messages, tokens and what they cost, as the gateway counts them; wakes nothing. */
export function showUsage(sandbox: Sandbox, signsOut: boolean): Handler<AccessVariables> {
  return async function handleUsage(context) {
    const [status, report] = await Promise.all([sandbox.status(), gatewayUsage(sandbox)]);
    const visitor = { identity: context.get("identity"), signsOut };
    return htmlPage(context, usagePage({ visitor, status, report }));
  };
}
