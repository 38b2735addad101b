import type { ErrorCode, StewardError } from "../contract/errors.ts";
import { problem, problemResponse } from "../contract/problem.ts";

interface ProblemOptions {
  /** Overrides the code's status. */
  status?: number;
  retryAfterSeconds?: number;
}

export function sendProblem(code: ErrorCode, detail?: string, options: ProblemOptions = {}): Response {
  const { status, retryAfterSeconds } = options;
  const headers = { ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }) };
  return problemResponse(problem(code, detail, status), { "cache-control": "no-store", ...headers });
}

export function sendError(error: StewardError, options: ProblemOptions = {}): Response {
  return sendProblem(error.code, error.message, options);
}
