import type { Handler } from "hono";
import * as z from "zod/mini";
import type { AccessVariables } from "../access.ts";
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
    const { value, problem } =
      status.state === "stopped"
        ? {}
        : await attempt(LIMIT_MS, operateJson(sandbox, ["sessions", "list"], sessionsSchema()));
    const visitor = { identity: context.get("identity"), signsOut };
    return htmlPage(context, sessionsPage({ visitor, status, list: value?.sessions, problem, now: clock() }));
  };
}
