import type { OperationReply } from "../contract/control.ts";
import { StewardError } from "../contract/errors.ts";

/** Command-line option that reads an {@link OperationRequest} from standard input and writes the reply. */
export const REQUEST_FLAG = "--request";

/** Returns the reply for an operation's result or error. Rejects only if the error is a bug. */
export async function replyOf(run: () => unknown): Promise<OperationReply> {
  try {
    return { ok: true, value: await run(), notes: "" };
  } catch (error) {
    if (!(error instanceof StewardError)) throw error;
    const { code, detail, fix } = error.reason;
    return { ok: false, error: { code, message: detail, fix }, notes: "" };
  }
}
