import { ERRORS, fixOf, type ErrorCode } from "./errors.ts";

export const PROBLEM_TYPE = "application/problem+json";

/** Problem document of RFC 9457 section 3, extended with `code` and `fix`. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: ErrorCode;
  fix: string;
}

/** Returns the problem document of a code. `status` overrides the code's status if a route requires another one. */
export function problem(code: ErrorCode, detail?: string, status: number = ERRORS[code].status): Problem {
  const { title, cause } = ERRORS[code];
  return {
    type: `urn:steward:error:${code}`,
    title,
    status,
    detail: detail ?? cause,
    code,
    fix: fixOf(code),
  };
}

export function problemResponse(document: Problem, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(document), {
    status: document.status,
    headers: { "content-type": PROBLEM_TYPE, ...headers },
  });
}
