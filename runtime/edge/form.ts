import type { Context } from "hono";
import * as z from "zod/mini";
import "../contract/english.ts";
import { StewardError } from "../contract/errors.ts";
import { readText } from "./admission/body.ts";

/**
 * The values of a form that has each of these fields once and no other.
 *
 * @throws StewardError `form_invalid` where one is missing, is there twice or has another form.
 */
export async function readFields<N extends string>(
  request: Request,
  forms: Record<N, RegExp>,
): Promise<Record<N, string>> {
  const entries = [...new URLSearchParams(await readText(request))];
  const fields = Object.fromEntries(entries);
  const isWhole = Object.entries<RegExp>(forms).every(
    ([name, form]) => Object.hasOwn(fields, name) && form.test(fields[name] ?? ""),
  );
  if (!isWhole || entries.length !== Object.keys(forms).length) throw new StewardError("form_invalid");
  return fields as Record<N, string>;
}

/** Parameter of any address below `/_admin` and `/debug`: the tenant that it is about. */
export const CHAT_PARAMETER = "chat";

/** More than any page's form has. */
const MOST_VALUES = 100;

/**
 * The values of the one field that a form has, in their order; the field may be there several times.
 *
 * @throws StewardError `form_invalid` where it is missing, another field is there, or a value has another form.
 */
export async function readField(request: Request, name: string, form: RegExp): Promise<string[]> {
  const entries = [...new URLSearchParams(await readText(request))];
  if (entries.length === 0 || entries.length > MOST_VALUES) throw new StewardError("form_invalid");
  for (const [field, value] of entries) {
    if (field !== name || !form.test(value)) throw new StewardError("form_invalid");
  }
  return entries.map(([, value]) => value);
}

/**
 * The query of a request as its schema has it. Empty values count as not given.
 *
 * @throws StewardError `query_invalid` with every problem at once, each with its parameter.
 */
export function readQuery<T>(context: Context, schema: z.ZodMiniType<T>): T {
  const given = Object.entries(context.req.query()).filter(
    ([name, value]) => value !== "" && name !== CHAT_PARAMETER,
  );
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
