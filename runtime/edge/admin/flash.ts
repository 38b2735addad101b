import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import * as z from "zod/mini";
import { ERRORS, type ErrorCode } from "../../contract/errors.ts";

/** Deed of a button, in the words of the page that follows. */
export const DONE = {
  approved: "Approved, with a person’s rights. Make operator under People or Browsers grants more.",
  approvedOperator: "Approved, with an operator’s rights.",
  granted: "The rights hold from the next message on.",
  rejected: "Rejected.",
  revoked: "Revoked. The device is cut off within a second.",
  removed: "Revoked. This person needs a new approval to write.",
  restarting: "The gateway is restarting.",
  scheduled: "Added.",
  rescheduled: "Changed.",
  paused: "Paused.",
  resumed: "Resumed.",
  runs: "It runs within seconds; the outcome appears under History.",
  unscheduled: "Removed.",
  startedOver: "Started over. The bot no longer uses the earlier messages; they are kept as before.",
  forgotten: "Deleted. Backups that hold the conversation keep it.",
  written: "Saved. The assistant reads it with the next message; the version before is kept.",
  fileRemoved: "Removed. The file is kept as a version.",
  replayed: "The event is being delivered again.",
  waking: "The container is starting.",
  saved: "Saved. A running gateway applies it within a second; a gateway stopped by its config restarts.",
  fresh: "The old file is set aside. The gateway restarts and writes the defaults.",
  backedUp: "A backup was made.",
  restored:
    "The backup is restored. The gateway restarts with it. The state before is kept as the copy “Before a restore”.",
  undone: "Undone. It is as it was before.",
  goesOn: "This takes longer than a page waits and continues in the background. Check again shortly.",
} as const;

/** See {@link DONE}. */
export type Done = keyof typeof DONE;

/** Cookie with the token that undoes this browser's last removal: `<done>.<random>`. */
export const UNDO_COOKIE = "steward-undo";
/** Time in which a removal can be undone. A page offers it for 10 s; the rest is for the way. */
export const UNDO_MS = 15_000;

/** Message of the button before a page: codes of fixed lists, and never a text. */
export interface Flash {
  done?: Done | undefined;
  problem?: ErrorCode | undefined;
  /** Token that undoes it. */
  undo?: string | undefined;
}

/** The query's part for {@link Flash}. Made when it is read, and not at a start. */
export const flashSchema = () =>
  z.object({
    done: z.optional(z.enum(Object.keys(DONE) as Done[])),
    problem: z.optional(z.enum(Object.keys(ERRORS) as ErrorCode[])),
  });

/** Reads the outcome of the last button from the query. Unknown codes are left out. */
export function readFlash(context: Context): Flash {
  const given = flashSchema().safeParse(context.req.query());
  const { done, problem } = given.data ?? {};
  const undo = getCookie(context, UNDO_COOKIE);
  return { done, problem, undo: done !== undefined && undo?.startsWith(`${done}.`) ? undo : undefined };
}

/** Goes to a page that says what a button did, or why it did not. */
export function goTo(
  context: Context,
  { path }: { path: string },
  done: Done,
  problem?: { code: ErrorCode },
): Response {
  const query = problem === undefined ? `done=${done}` : `problem=${problem.code}`;
  return context.redirect(`${path}${path.includes("?") ? "&" : "?"}${query}`, 303);
}
