import type { ErrorCode, Reason } from "../../../runtime/contract/errors.ts";

/** What keeps a host from taking a deployment; the fix names what to type on this very host. */
export function problemOf(code: ErrorCode, detail: string, fix: string): Reason {
  return { code, detail, fix };
}
