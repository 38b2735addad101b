import type { Handler } from "hono";
import * as z from "zod/mini";
import type { AccessVariables } from "../access.ts";
import { gatewayDetails } from "../debug-routes.ts";
import { operateJson } from "../operate.ts";
import { sessionsPage } from "../pages/sessions.ts";
import type { Clock, Sandbox } from "../ports.ts";
import { attempt } from "./attempt.ts";
import { htmlPage } from "./html-page.ts";

const LIMIT_MS = 10_000;

/** Never what was written. */
// Made when the page is asked for, and not at a start.
const sessionsSchema = () =>
  z.object({
    sessions: z.array(z.object({ conversation: z.string(), messages: z.int(), lastAt: z.iso.datetime() })),
  });

/** `GET /_admin/sessions`: the conversations that are kept; wakes nothing. */
export function showSessions(sandbox: Sandbox, clock: Clock, signsOut: boolean): Handler<AccessVariables> {
  return async function handleSessions(context) {
    const status = await sandbox.status();
    const listed = status.state !== "stopped" && operateJson(sandbox, ["sessions", "list"], sessionsSchema());
    const [{ value, problem }, details] = await Promise.all([
      attempt(LIMIT_MS, Promise.resolve(listed || undefined)),
      gatewayDetails(sandbox),
    ]);
    const visitor = { identity: context.get("identity"), signsOut };
    const { sessions: list } = value ?? {};
    const { retention } = details ?? {};
    return htmlPage(context, sessionsPage({ visitor, status, list, retention, problem, now: clock() }));
  };
}
