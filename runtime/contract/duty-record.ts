import * as z from "zod/mini";
import type { DutyRecord } from "./duty.ts";

const amount = z.number().check(z.minimum(0));
const time = z.iso.datetime();

/** Reads a {@link DutyRecord}. Apart from it, since the Worker only writes one. */
export const dutyRecord: z.ZodMiniType<DutyRecord> = z.strictObject({
  version: z.literal(1),
  since: time,
  at: time,
  asleep: z.boolean(),
  sleepAfterMs: z.nullable(amount),
  days: z.record(
    z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/)),
    z.strictObject({ awakeMs: amount, starts: amount }),
  ),
});
