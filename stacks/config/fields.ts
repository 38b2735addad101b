import * as z from "zod";
import { DURATION_HELP, parseDuration } from "../../runtime/contract/duration.ts";
import { alertsSchema } from "../../runtime/contract/alerts.ts";
import { ownNameProblem } from "../../runtime/contract/variables.ts";
import { SANDBOX_CLASS } from "../../runtime/contract/names.ts";
import { fittingName } from "../../infra/serverless/names.ts";
import { checkMigrations, repairedMigrations } from "../../infra/serverless/migration-list.ts";

/**
 * Schemas of single values. Pulumi passes every value as a text, lists and objects as JSON. The description of a schema
 * ends the sentence "must be …", and never repeats the given value.
 */

/** A text of the given pattern. */
export function matching(pattern: RegExp, description: string) {
  return z.string().regex(pattern, `must be ${description}`);
}

/** Returns the schema of a Cloudflare resource's name. The fix of a wrong name contains the nearest valid one. */
export function resourceName(pattern: RegExp, description: string, longest: number) {
  return z.string().superRefine((text, context) => {
    if (pattern.test(text)) return;
    const nearest = fittingName(text, longest);
    const value = pattern.test(nearest) ? nearest : undefined;
    context.addIssue({ code: "custom", message: `must be ${description}`, params: { value } });
  });
}

/** One of the given words. */
export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: `must be ${words.join(", ").replace(/, ([^,]*)$/, " or $1")}` });
}

/** `true` or `false`. */
export function flag() {
  return oneOf(["true", "false"]).transform((word) => word === "true");
}

/** A whole number between two bounds, both allowed. */
export function integer(low: number, high: number) {
  const message = `must be a whole number from ${low} to ${high}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .refine((value) => value >= low && value <= high, message);
}

/** A number with at most two decimals between two bounds, both allowed. */
export function amount(low: number, high: number, unit: string) {
  const message = `must be ${unit} from ${low} to ${high}, with at most two decimals`;
  return z
    .string()
    .regex(/^\d{1,6}(\.\d{1,2})?$/, message)
    .transform(Number)
    .refine((value) => value >= low && value <= high, message);
}

/** A list or an object. */
export function structured<Schema extends z.ZodType>(schema: Schema, description: string) {
  return z
    .string()
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue({ code: "custom", message: `must be ${description}` });
        return z.NEVER;
      }
    })
    .pipe(schema);
}

/** `never` or a duration, kept as it was written. */
export function duration() {
  return z
    .string()
    .refine((text) => parseDuration(text) !== undefined, `must be ${DURATION_HELP.replaceAll("`", "")}`);
}

const HOST = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;
const LOOPBACK = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/;

/** A host name without scheme and path. */
export function hostName() {
  return matching(HOST, "a host name in lower case, without scheme and path");
}

/** An origin on this machine. */
export function loopbackOrigin() {
  return matching(LOOPBACK, "a loopback origin such as http://127.0.0.1:8787");
}

/** The identity gateway's team domain. */
export function teamDomain() {
  return z
    .string()
    .refine(
      (text) => HOST.test(text) || LOOPBACK.test(text),
      "must be a host name such as example.cloudflareaccess.com, or a loopback origin",
    );
}

/** A server's address. */
export function serverUrl() {
  return z
    .url({ protocol: /^https?$/, error: "must be an http or https address" })
    .refine((text) => !/^https?:\/\/[^/]*@/.test(text), "must not hold a user name or password");
}

/** Destinations of alerts, checked here and handed on as they are. */
export function alerts() {
  const form = 'must be an object such as {"slack": "https://hooks.slack.com/services/…", "after": "5m"}';
  return z.string().superRefine((text, context) => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return context.addIssue({ code: "custom", message: form });
    }
    const parsed = alertsSchema().safeParse(value);
    for (const { path, message } of parsed.error?.issues ?? []) {
      context.addIssue({
        code: "custom",
        path,
        message: path.length === 0 ? `${message}; ${form}` : message,
      });
    }
  });
}

/** Cloudflare's bounds: https://developers.cloudflare.com/workers/platform/limits/#environment-variables */
const MOST_OWN = 32;
const LONGEST_OWN = 5_000;

/** Variables by their name, which the config file may refer to. Values are never shown. */
export function ownVariables() {
  const map = z.record(
    z.string(),
    z.string().min(1, "is empty").max(LONGEST_OWN, `has more than ${LONGEST_OWN} characters`),
    {
      error: 'must be an object of texts such as {"MISTRAL_API_KEY": "…"}',
    },
  );
  const checked = map.superRefine((values, context) => {
    const names = Object.keys(values);
    if (names.length > MOST_OWN)
      context.addIssue({ code: "custom", message: `must hold at most ${MOST_OWN}` });
    for (const name of names) {
      const problem = ownNameProblem(name);
      if (problem !== undefined) context.addIssue({ code: "custom", path: [name], message: problem });
    }
  });
  return structured(checked, 'an object of texts such as {"MISTRAL_API_KEY": "…"}');
}

/**
 * Returns the schema of the migrations. It also takes the key `new_sqlite_classes`, as section 9 of the specification
 * and Cloudflare's files spell it.
 */
export function migrations() {
  const entry = z.preprocess(
    renamedClasses,
    z.strictObject({ tag: z.string(), newSqliteClasses: z.array(z.string()) }),
  );
  return structured(
    z.array(entry, { error: "must be a list of {tag, newSqliteClasses}" }).superRefine((list, context) => {
      for (const message of checkMigrations(list, SANDBOX_CLASS)) {
        const value = JSON.stringify(repairedMigrations(list, SANDBOX_CLASS));
        context.addIssue({ code: "custom", message, params: { value } });
      }
    }),
    "a list of {tag, newSqliteClasses}",
  );
}

/** Takes `new_sqlite_classes` for `newSqliteClasses`. */
function renamedClasses(entry: unknown): unknown {
  if (typeof entry !== "object" || entry === null || !("new_sqlite_classes" in entry)) return entry;
  const { new_sqlite_classes: newSqliteClasses, ...rest } = entry;
  return "newSqliteClasses" in rest ? entry : { ...rest, newSqliteClasses };
}
