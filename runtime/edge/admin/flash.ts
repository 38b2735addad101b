import type { Context } from "hono";
import * as z from "zod/mini";
import { ERRORS, type ErrorCode } from "../../contract/errors.ts";

/** Deed of a button, in the words of the page that follows. */
export const DONE = {
  approved: "Approved.",
  rejected: "Rejected.",
  revoked: "Revoked. The device is cut off within a second.",
  restarting: "The gateway is being restarted.",
  replayed: "The event is delivered again.",
  waking: "The container is being started.",
  saved: "Saved. A running gateway takes it over within a second; one that its config stopped starts anew.",
  fresh: "The file is set aside. The gateway starts anew and writes a fresh one.",
  backedUp: "A backup was made.",
  restored: "The backup is restored. The gateway starts anew with it.",
  goesOn: "It takes longer than a page waits, and goes on in the background. Look again in a while.",
} as const;

/** See {@link DONE}. */
export type Done = keyof typeof DONE;

/** Message of the button before a page: codes of fixed lists, and never a text. */
export interface Flash {
  done?: Done | undefined;
  problem?: ErrorCode | undefined;
}

/** The query's part for {@link Flash}. */
export const flashSchema = z.strictObject({
  done: z.optional(z.enum(Object.keys(DONE) as Done[])),
  problem: z.optional(z.enum(Object.keys(ERRORS) as ErrorCode[])),
});

/** Returns what the query tells of the button before; what is none of its codes is left out. */
export function readFlash(context: Context): Flash {
  const given = flashSchema.safeParse(context.req.query());
  return given.success ? given.data : {};
}

/** The query that tells a page what a button did, or why it did not. */
export function flashQuery(done: Done, problem?: ErrorCode): string {
  return problem === undefined ? `?done=${done}` : `?problem=${problem}`;
}
