import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import * as z from "zod/mini";
import { ERRORS, type ErrorCode } from "../../contract/errors.ts";

/** Messages shown after a button press. */
export const DONE = {
  approved: "Approved, but not as an operator. To grant operator rights, choose Make operator below.",
  approvedOperator: "Approved with an operator’s rights.",
  granted: "The new rights apply from the next message.",
  rejected: "Rejected.",
  revoked: "Revoked. The device will be disconnected within a second.",
  removed: "Revoked. This person must be approved again before writing to the bot.",
  restarting: "The gateway is restarting.",
  scheduled: "Added.",
  rescheduled: "Changed.",
  paused: "Paused.",
  resumed: "Resumed.",
  runs: "It runs within seconds; the outcome appears under History.",
  unscheduled: "Removed.",
  startedOver: "Started over. The bot no longer uses the earlier messages, which remain stored.",
  forgotten: "Deleted. Existing backups still contain the conversation.",
  written: "Saved. The assistant reads it with the next message; the previous version is kept.",
  fileRemoved: "File removed. Its last version is still stored.",
  replayed: "The event is being delivered again.",
  waking: "The container is starting.",
  saved:
    "Saved. A running gateway applies the change within a second. A gateway that could not start with the old config is restarted.",
  fresh: "The old file is set aside. The gateway restarts and writes the defaults.",
  backedUp: "Backup created.",
  restored:
    "The backup has been restored, and the gateway is restarting with it. The previous state was saved as the backup “Before a restore”.",
  undone: "Undone.",
  goesOn: "This is taking longer than expected and will continue in the background. Check again shortly.",
} as const;

export type Done = keyof typeof DONE;

/** Name of the cookie that lets a browser undo its last removal on the admin pages. */
export const UNDO_COOKIE = "steward-undo";
/**
 * Time in milliseconds during which a removal can be undone. Pages offer the undo for 10 s; the rest allows for
 * network delays.
 */
export const UNDO_MS = 15_000;

/** Outcome of the last button press, as fixed codes without free text. */
export interface Flash {
  done?: Done | undefined;
  problem?: ErrorCode | undefined;
  undo?: string | undefined;
}

/** Query parameters of {@link Flash}, built lazily to keep startup fast. */
export const flashSchema = () =>
  z.object({
    done: z.optional(z.enum(Object.keys(DONE) as Done[])),
    problem: z.optional(z.enum(Object.keys(ERRORS) as ErrorCode[])),
  });

/** Reads the outcome of the last button press from the query. Ignores unknown codes. */
export function readFlash(context: Context): Flash {
  const given = flashSchema().safeParse(context.req.query());
  const { done, problem } = given.data ?? {};
  const undo = getCookie(context, UNDO_COOKIE);
  return { done, problem, undo: done !== undefined && undo?.startsWith(`${done}.`) ? undo : undefined };
}

/** Redirects to a page that shows the outcome of a button press. */
export function goTo(
  context: Context,
  { path }: { path: string },
  done: Done,
  problem?: { code: ErrorCode },
): Response {
  const query = problem === undefined ? `done=${done}` : `problem=${problem.code}`;
  return context.redirect(`${path}${path.includes("?") ? "&" : "?"}${query}`, 303);
}
