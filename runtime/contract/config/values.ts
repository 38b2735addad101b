import * as z from "zod/mini";
import { platformSchema } from "../delivery.ts";
import { parseDuration } from "../duration.ts";
import "../english.ts";

// Turn off zod's compiled validators before the first schema is created. Compiling takes 8 ms, too long for a single
// validation.
z.config({ jitless: true });

/** Adds a description to a schema, for editors and error messages. */
export function withHelp<Schema extends z.ZodMiniType>(schema: Schema, help: string): Schema {
  return schema.check(z.describe(help));
}

/** A text of 1 to `most` characters. */
export function textUpTo(most: number) {
  return z.string().check(z.minLength(1), z.maxLength(most));
}

export function integer(least: number, most: number) {
  return z.int().check(z.minimum(least), z.maximum(most));
}

const variableName = z.string().check(z.regex(/^[A-Z][A-Z0-9_]*$/, "must name an environment variable"));

/**
 * A secret in the config, such as a bot token: the value itself, or `{"env": "NAME"}`. The second form keeps the
 * value out of the config: the gateway reads the value from the environment variable.
 */
export const secret = z.union([z.string().check(z.minLength(1)), z.strictObject({ env: variableName })], {
  error: 'must be a text or {"env": "NAME"}, the name of an environment variable in capital letters',
});

export type Secret = z.infer<typeof secret>;

/** A duration such as `30s`, `10m`, `1h` or `1h30m`, not yet parsed. */
export const duration = z
  .string()
  .check(
    z.refine(
      (text) => Number.isFinite(parseDuration(text) ?? Number.NaN),
      "must be a duration such as 30s, 10m, 1h or 1h30m",
    ),
  );

/** A time zone that `Intl` knows. */
export const timezone = z.string().check(z.refine(isTimezone, "must be a time zone such as Europe/Berlin"));

export const timeOfDay = z
  .string()
  .check(z.regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time of day such as 04:00"));

export const httpUrl = z
  .url({ protocol: /^https?$/, error: "must be an http or https address" })
  .check(z.refine((text) => !/^https?:\/\/[^/]*@/.test(text), "must not hold a user name or password"));

/** Chat for scheduled messages and other messages that are not replies. The ids are the platform's. */
export const chatAddress = z.strictObject({
  platform: platformSchema,
  chat: textUpTo(128),
  thread: z.optional(textUpTo(128)),
});

/**
 * Returns options for a rule that depends only on `fields`. With them, zod applies the rule even if other fields are
 * invalid.
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
