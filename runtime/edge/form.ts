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
