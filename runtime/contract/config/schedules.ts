import * as z from "zod/mini";
import { sendElsewhere } from "./ids.ts";
import { chatAddress, withHelp, duration, whenFieldsValid, textUpTo, timezone } from "./values.ts";

/**
 * Time of a schedule, exactly one of: `at`, once (ISO 8601); `every`, a fixed interval; `cron`, an expression of five
 * fields.
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

/** Content of a schedule, exactly one of: `text`, sent as it is; `prompt`, answered by the agent. */
const what = {
  text: z.optional(textUpTo(20_000)),
  prompt: z.optional(textUpTo(20_000)),
};

/** Schema of a schedule in the config, in the store, and in calls of the agent's tool. */
export const schedule = z
  .strictObject({
    ...when,
    ...what,
    to: chatAddress,
    enabled: z._default(z.boolean(), true),
    // Optional without a default, so that a stored schedule has this key only if it is set. Older versions refuse
    // unknown keys.
    sendElsewhere: withHelp(
      z.optional(sendElsewhere),
      "For `prompt`: other chats to which the agent may send messages. Not set: none.",
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
      message: "timezone is only allowed with cron",
      ...whenFieldsValid("timezone", "cron"),
    }),
  );

export const schedules = z._default(
  z.record(z.string().check(z.regex(/^[a-z0-9][\w-]{0,63}$/)), schedule),
  {},
);

export type Schedule = z.output<typeof schedule>;
