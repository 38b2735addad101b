import { reason, StewardError, type Reason } from "../../contract/errors.ts";
import { within } from "../operate.ts";

/** What came of an attempt: a value, or the reason why there is none. */
export interface Attempt<T> {
  value?: T;
  problem?: Reason;
}

/** Waits for `work` within a limit. Never rejects: a page shows the reason in the value's place. */
export async function attempt<T>(milliseconds: number, work: Promise<T>): Promise<Attempt<T>> {
  try {
    return { value: await within(milliseconds, work) };
  } catch (error) {
    return { problem: error instanceof StewardError ? error.reason : reason("gateway_unavailable") };
  }
}
