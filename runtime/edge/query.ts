import type { Context } from "hono";
import * as z from "zod/mini";
import "../contract/english.ts";
import { StewardError } from "../contract/errors.ts";

/**
 * The query of a request as its schema has it. Empty values count as not given.
 *
 * @throws StewardError `query_invalid` with every problem at once, each with its parameter.
 */
export function readQuery<T>(context: Context, schema: z.ZodMiniType<T>): T {
  const given = Object.entries(context.req.query()).filter(([, value]) => value !== "");
  const parsed = schema.safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => [...path, message].join(": "));
  throw new StewardError("query_invalid", problems.join("; "));
}

/** A parameter that is a whole number within bounds. */
export function wholeNumber(least: number, most: number) {
  const inRange = (text: string): boolean =>
    /^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most;
  const message = `not a whole number from ${least} to ${most}`;
  return z.pipe(z.string().check(z.refine(inRange, { message })), z.transform(Number));
}
