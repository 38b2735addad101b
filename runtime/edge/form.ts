import type { Context } from "hono";
import * as z from "zod/mini";
import "../contract/english.ts";
import { StewardError } from "../contract/errors.ts";
import { readBodyText } from "./admission/body.ts";

/** Maximum number of submitted values that the page shows after an error. */
const MAX_SHOWN = 100;

/** Invalid values in a form or query. Contains all submitted values, so that the page can show the form again. */
export class WrongValuesError extends StewardError {
  readonly sent: readonly (readonly [name: string, value: string])[];
  readonly wrong: ReadonlySet<string>;

  constructor(
    code: "form_invalid" | "query_invalid",
    sent: WrongValuesError["sent"],
    wrong: readonly string[],
    detail?: string,
  ) {
    super(code, detail);
    this.sent = sent.slice(0, MAX_SHOWN);
    this.wrong = new Set(wrong);
  }
}

/**
 * Reads a form that must contain exactly the fields named in `forms`.
 *
 * @throws StewardError `form_invalid` if a field is missing, repeated, unknown or malformed.
 */
export async function readFields<N extends string>(
  request: Request,
  forms: Record<N, RegExp>,
): Promise<Record<N, string>> {
  const entries = [...new URLSearchParams(await readBodyText(request))];
  const fields = Object.fromEntries(entries);
  const wanted = new Map<string, RegExp>(Object.entries(forms));
  const wrong = entries
    .filter(([name, value], index) => {
      const isTwice = entries.findIndex((one) => one[0] === name) < index;
      return isTwice || wanted.get(name)?.test(value) !== true;
    })
    .map(([name]) => name);
  if (wrong.length > 0 || entries.length !== wanted.size)
    throw new WrongValuesError("form_invalid", entries, wrong);
  return fields as Record<N, string>;
}

/** Parameter on `/_admin` and `/debug` URLs that selects a tenant. */
export const CHAT_PARAMETER = "chat";

const MAX_VALUES = 100;

/**
 * Reads all values of the field `name`, which must be the form's only field.
 *
 * @throws StewardError `form_invalid` if a value is missing or malformed, or another field is present.
 */
export async function readField(request: Request, name: string, form: RegExp): Promise<string[]> {
  const entries = [...new URLSearchParams(await readBodyText(request))];
  if (entries.length === 0 || entries.length > MAX_VALUES) throw new StewardError("form_invalid");
  const wrong = entries.filter(([field, value]) => field !== name || !form.test(value));
  if (wrong.length > 0)
    throw new WrongValuesError(
      "form_invalid",
      entries,
      wrong.map(([field]) => field),
    );
  return entries.map(([, value]) => value);
}

/**
 * Parses a query. Empty values count as absent.
 *
 * @throws StewardError `query_invalid` with all problems, each with its parameter.
 */
export function readQuery<T>(context: Context, schema: z.ZodMiniType<T>): T {
  const given = Object.entries(context.req.query()).filter(
    ([name, value]) => value !== "" && name !== CHAT_PARAMETER,
  );
  const parsed = schema.safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const problems = issues.map(({ path, message }) => [...path, message].join(": "));
  const wrong = issues.map(({ path }) => String(path[0]));
  throw new WrongValuesError("query_invalid", given, wrong, problems.join("; "));
}

export function wholeNumber(least: number, most: number) {
  const inRange = (text: string): boolean =>
    /^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most;
  const message = `not a whole number from ${least} to ${most}`;
  return z.pipe(z.string().check(z.refine(inRange, { message })), z.transform(Number));
}
