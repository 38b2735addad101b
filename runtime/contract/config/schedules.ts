import * as z from "zod";
import { chatAddress, duration, over, timezone } from "./values.ts";

/**
 * When a schedule is due: once at a time (ISO 8601), in equal steps, or by a cron expression of five
 * fields. Exactly one of the three.
 */
const when = {
  at: z.iso.datetime({ offset: true }).optional(),
  every: duration.optional(),
  cron: z.string().min(9).max(120).optional(),
  timezone: timezone.optional().describe("For `cron`; default UTC."),
};

/** What it does: says a text as it stands, or asks the agent and says its answer. Exactly one of the two. */
const what = {
  text: z.string().min(1).max(20_000).optional(),
  prompt: z.string().min(1).max(20_000).optional(),
};

/** One schedule, in the config, in the store and as the agent's tool takes it. */
export const schedule = z
  .strictObject({
    ...when,
    ...what,
    to: chatAddress,
    enabled: z.boolean().default(true),
  })
  .refine(({ at, every, cron }) => [at, every, cron].filter((one) => one !== undefined).length === 1, {
    message: "needs exactly one of at, every, cron",
    ...over("at", "every", "cron"),
  })
  .refine(({ text, prompt }) => (text === undefined) !== (prompt === undefined), {
    message: "needs exactly one of text, prompt",
    ...over("text", "prompt"),
  })
  .refine(({ cron, timezone: zone }) => zone === undefined || cron !== undefined, {
    path: ["timezone"],
    message: "timezone goes with cron",
    ...over("timezone", "cron"),
  });

/** `schedules`: by name. */
export const schedules = z.record(z.string().regex(/^[a-z0-9][\w-]{0,63}$/), schedule).default({});

/** One schedule after defaults. */
export type Schedule = z.output<typeof schedule>;
