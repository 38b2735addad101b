import * as z from "zod/mini";
import { sendElsewhere } from "./ids.ts";
import { chatAddress, withHelp, duration, whenFieldsValid, textUpTo, timezone } from "./values.ts";

/**
 * Time of a schedule: once at a time (ISO 8601), in equal steps, or by a cron expression of five
 * fields. Exactly one of the three.
 */
const when = {
  at: z.optional(z.iso.datetime({ offset: true, error: "must be a time such as 2027-01-31T09:00:00Z" })),
  every: z.optional(duration),
  cron: z.optional(
    z.string().check(
      z.maxLength(120),
      z.refine((text) => text.trim().split(/\s+/).length === 5, {
        message: "must be five fields, such as `0 9 * * 1-5` for weekdays at nine",
      }),
    ),
  ),
  timezone: withHelp(z.optional(timezone), "For `cron`; default UTC."),
};

/** Content of a schedule: says a text as it stands, or asks the agent and says its answer. Exactly one of the two. */
const what = {
  text: z.optional(textUpTo(20_000)),
  prompt: z.optional(textUpTo(20_000)),
};

/** One schedule, in the config, in the store and as the agent's tool takes it. */
export const schedule = z
  .strictObject({
    ...when,
    ...what,
    to: chatAddress,
    enabled: z._default(z.boolean(), true),
    // Optional, not an empty list: versions before this key read what is stored without it.
    sendElsewhere: withHelp(
      z.optional(sendElsewhere),
      "For `prompt`: other chats that the agent may write to when it answers. Not set: none.",
    ),
  })
  .check(
    z.refine(({ at, every, cron }) => [at, every, cron].filter((one) => one !== undefined).length === 1, {
      message: "needs exactly one of at, every, cron",
      ...whenFieldsValid("at", "every", "cron"),
    }),
    z.refine(({ text, prompt }) => (text === undefined) !== (prompt === undefined), {
      message: "needs exactly one of text, prompt",
      ...whenFieldsValid("text", "prompt"),
    }),
    z.refine(({ cron, timezone: zone }) => zone === undefined || cron !== undefined, {
      path: ["timezone"],
      message: "timezone goes with cron",
      ...whenFieldsValid("timezone", "cron"),
    }),
  );

/** `schedules`: by name. */
export const schedules = z._default(
  z.record(z.string().check(z.regex(/^[a-z0-9][\w-]{0,63}$/)), schedule),
  {},
);

/** One schedule after defaults. */
export type Schedule = z.output<typeof schedule>;
