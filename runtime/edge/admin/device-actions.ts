import type { Handler } from "hono";
import * as z from "zod/mini";
import { CONTROL_ROUTES } from "../../contract/control.ts";
import { platformSchema } from "../../contract/delivery.ts";
import { StewardError, type ErrorCode } from "../../contract/errors.ts";
import type { Log } from "../../contract/log.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { readField } from "../form.ts";
import { operateJson, within } from "../operate.ts";
import type { Clock, Sandbox } from "../ports.ts";
import { flashQuery, type Done } from "./flash.ts";

/** For all that one form asks for. */
const LIMIT_MS = 10_000;

/** `<platform>:<code>` or `device:<request id>`. */
const REQUEST = new RegExp(`^(?:(?:${platformSchema.options.join("|")}):[A-Z]{8}|device:[0-9a-f-]{36})$`);
const DEVICE = /^[0-9a-f]{64}$/;

/** What a change works with. */
export interface DeviceActions {
  sandbox: Sandbox;
  clock: Clock;
  log: Log;
}

/**
 * `POST /_admin/devices/approve` and `…/reject`, field `request`, several times to settle several: exactly
 * those that the page showed, and none that came since.
 */
export function settleRequests(verb: "approve" | "reject", actions: DeviceActions): Handler<AccessVariables> {
  const done = verb === "approve" ? "approved" : "rejected";
  return async function handleSettle(context) {
    const requests = await readField(context.req.raw, "request", REQUEST);
    const commands = requests.map((request) => {
      const [kind = "", id = ""] = request.split(":");
      return kind === "device" ? ["devices", verb, id] : ["pairing", verb, kind, id];
    });
    const problem = await runAll(commands, actions, context.get("identity").name);
    return context.redirect(`${ROUTES.devicesPage.path}${flashQuery(done, problem)}`, 303);
  };
}

/** `POST /_admin/devices/revoke`, field `device`. */
export function revokeDevice(actions: DeviceActions): Handler<AccessVariables> {
  return async function handleRevoke(context) {
    const devices = await readField(context.req.raw, "device", DEVICE);
    const commands = devices.map((device) => ["devices", "revoke", device]);
    const problem = await runAll(commands, actions, context.get("identity").name);
    return context.redirect(`${ROUTES.devicesPage.path}${flashQuery("revoked", problem)}`, 303);
  };
}

/** `POST /_admin/devices/wake`: starts a stopped container, which looking at the page does not. */
export function wakeForDevices({ sandbox, log }: DeviceActions): Handler<AccessVariables> {
  return async function handleWake(context) {
    log.info("operator wakes the container", { by: context.get("identity").name });
    const asked = sandbox.request("supervisor", { method: "GET", path: CONTROL_ROUTES.status });
    // It starts whether or not it answers in time; the page then tells its state.
    await within(LIMIT_MS, asked).catch(() => undefined);
    const done: Done = "waking";
    return context.redirect(`${ROUTES.devicesPage.path}${flashQuery(done)}`, 303);
  };
}

/** Runs commands one after another. What failed first is told; the page shows what is still open. */
async function runAll(
  commands: readonly string[][],
  { sandbox, clock, log }: DeviceActions,
  by: string,
): Promise<ErrorCode | undefined> {
  const deadline = clock() + LIMIT_MS;
  let problem: ErrorCode | undefined;
  for (const words of commands) {
    log.info("operator settles access", { by, command: words.join(" ") });
    try {
      await within(Math.max(0, deadline - clock()), operateJson(sandbox, words, z.unknown()));
    } catch (error) {
      const code = error instanceof StewardError ? error.code : "command_failed";
      log.warn("operator's command failed", { by, command: words.join(" "), code });
      problem ??= code;
      if (code === "command_timed_out") break;
    }
  }
  return problem;
}
