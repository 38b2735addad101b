import type { ErrorCode, StewardError } from "../contract/errors.ts";
import { problem, problemResponse } from "../contract/problem.ts";

/** Headers of a problem's response. */
interface ProblemOptions {
  /** Status where it differs from the code's own. */
  status?: number;
  retryAfterSeconds?: number;
}

/** The response of an error code. */
export function sendProblem(code: ErrorCode, detail?: string, options: ProblemOptions = {}): Response {
  const { status, retryAfterSeconds } = options;
  const headers = { ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }) };
  return problemResponse(problem(code, detail, status), { "cache-control": "no-store", ...headers });
}

/** The response of an error. */
export function sendError(error: StewardError, options: ProblemOptions = {}): Response {
  return sendProblem(error.code, error.message, options);
}
