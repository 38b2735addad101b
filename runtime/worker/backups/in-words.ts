import { ERRORS, StewardError, type ErrorCode } from "../../contract/errors.ts";

/** Returns what failed as an error with a code; `code` for what has none. The bucket's and the container's own messages hold no secret. */
export function inWords(error: unknown, code: ErrorCode): StewardError {
  if (error instanceof StewardError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new StewardError(code, `${ERRORS[code].cause} (${message})`, { cause: error });
}
