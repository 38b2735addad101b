import { StewardError } from "../contract/errors.ts";
import { readText } from "./admission/body.ts";

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
