import * as z from "zod/mini";
import { platformSchema } from "../delivery.ts";
import { parseDuration } from "../duration.ts";
import "../english.ts";

/** Forms of single values that several sections of the config share. */

// Before any schema is made, all of which are made with these: a config is checked once a start, and to compile a
// function for each of its objects first takes 8 of the 12 ms.
z.config({ jitless: true });

/** A value with its meaning, for editors and error messages. */
export function withHelp<Schema extends z.ZodMiniType>(schema: Schema, help: string): Schema {
  return schema.check(z.describe(help));
}

/** A text that is not empty, of so many characters at most. */
export function textUpTo(most: number) {
  return z.string().check(z.minLength(1), z.maxLength(most));
}

/** A whole number within bounds. */
export function integer(least: number, most: number) {
  return z.int().check(z.minimum(least), z.maximum(most));
}

/** The name of an environment variable. */
const variableName = z.string().check(z.regex(/^[A-Z][A-Z0-9_]*$/, "must name an environment variable"));

/** A secret. Written as a reference to an environment variable the file holds none itself. */
export const secret = z.union([z.string().check(z.minLength(1)), z.strictObject({ env: variableName })], {
  error: 'must be a text or {"env": "NAME"}, the name of an environment variable in capital letters',
});

/** A secret as the config file writes it. */
export type Secret = z.infer<typeof secret>;

/** A duration such as `30s`, `10m`, `1h` or `1h30m`, kept as it was written. */
export const duration = z
  .string()
  .check(
    z.refine(
      (text) => Number.isFinite(parseDuration(text) ?? Number.NaN),
      "must be a duration such as 30s, 10m, 1h or 1h30m",
    ),
  );

/** A time zone of the IANA database, as `Intl` knows it. */
export const timezone = z.string().check(z.refine(isTimezone, "must be a time zone such as Europe/Berlin"));

/** A time of day, `HH:MM`. */
export const timeOfDay = z
  .string()
  .check(z.regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time of day such as 04:00"));

/** An address over http or https, without a user name or password in it. */
export const httpUrl = z
  .url({ protocol: /^https?$/, error: "must be an http or https address" })
  .check(z.refine((text) => !/^https?:\/\/[^/]*@/.test(text), "must not hold a user name or password"));

/** Place where something is sent without being asked: a chat, in its platform's own ids. */
export const chatAddress = z.strictObject({
  platform: platformSchema,
  chat: textUpTo(128),
  thread: z.optional(textUpTo(128)),
});

/**
 * For a rule over several fields of one object. Zod leaves such rules out as soon as anything else is
 * wrong with the object; this one is left out only where its own fields are wrong, so that all problems
 * are reported together.
 */
export function whenFieldsValid(...fields: string[]) {
  return {
    when: ({ value, issues }: z.core.ParsePayload): boolean =>
      typeof value === "object" &&
      value !== null &&
      !issues.some(({ code, path = [] }) =>
        path.length === 0 ? code === "invalid_type" : fields.includes(String(path[0])),
      ),
  };
}

function isTimezone(name: string): boolean {
  try {
    Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
