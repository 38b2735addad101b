import type { OperationReply } from "../contract/control.ts";
import { StewardError } from "../contract/errors.ts";

/** Flag with which a command reads an {@link OperationRequest} from standard input and writes the reply. */
export const REQUEST_FLAG = "--request";

/** Runs an operation and resolves to the reply for its result or StewardError. Rejects for other errors. */
export async function replyOf(run: () => unknown): Promise<OperationReply> {
  try {
    return { ok: true, value: await run(), notes: "" };
  } catch (error) {
    if (!(error instanceof StewardError)) throw error;
    const { code, detail, fix } = error.reason;
    return { ok: false, error: { code, message: detail, fix }, notes: "" };
  }
}
