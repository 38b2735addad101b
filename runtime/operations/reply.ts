import type { OperationReply } from "../contract/control.ts";
import { StewardError } from "../contract/errors.ts";

/** Option of the command line that reads an {@link OperationRequest} from standard input and writes its reply. */
export const REQUEST_FLAG = "--request";

/** Returns the reply to a request from what its operation returns or throws. Only a bug makes it reject. */
export async function replyOf(run: () => unknown): Promise<OperationReply> {
  try {
    return { ok: true, value: await run(), notes: "" };
  } catch (error) {
    if (!(error instanceof StewardError)) throw error;
    const { code, detail, fix } = error.reason;
    return { ok: false, error: { code, message: detail, fix }, notes: "" };
  }
}
