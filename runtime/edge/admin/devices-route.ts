import type { Handler } from "hono";
import type { AccessVariables } from "../access.ts";
import { devicesPage } from "../pages/devices.ts";
import { contentSecurityPolicy } from "../pages/layout.ts";
import type { Clock, Sandbox } from "../ports.ts";
import { readAccessList } from "./access-list.ts";
import { readFlash } from "./flash.ts";

/** `GET /_admin/devices`: who waits for approval and which devices have it; wakes nothing. */
export function showDevices(sandbox: Sandbox, clock: Clock, signsOut: boolean): Handler<AccessVariables> {
  return async function handleDevices(context) {
    const flash = readFlash(context);
    const status = await sandbox.status();
    const list = status.state === "stopped" ? undefined : await readAccessList(sandbox, clock);
    const visitor = { identity: context.get("identity"), signsOut };
    context.header("content-security-policy", await contentSecurityPolicy());
    return context.html(devicesPage({ visitor, flash, status, list, now: clock() }));
  };
}
