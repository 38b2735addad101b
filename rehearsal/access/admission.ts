import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { AccountState } from "../cloudflare/index.ts";
import type { IdentityGateway } from "./gateway.ts";
import { applicationFor, isBypassed } from "./policy.ts";

/** Decision of Access: pass the request to the Worker, or answer it directly. */
export type AdmissionResult =
  | { kind: "pass"; headers: OutgoingHttpHeaders }
  | { kind: "answer"; status: number; headers: OutgoingHttpHeaders };

export interface AccessRequest {
  hostname: string;
  path: string;
  /** Query with its question mark; empty if there is none. */
  search: string;
  headers: IncomingHttpHeaders;
}

/**
 * Returns Cloudflare Access's decision on a request. Without a valid token, redirects to the sign-in page, or answers
 * 401 if `X-Requested-With` is XMLHttpRequest:
 * https://developers.cloudflare.com/cloudflare-one/access-controls/access-settings/session-management/ A program may
 * send its token in `cf-access-token`.
 */
export async function admitRequest(
  state: Readonly<AccountState>,
  access: IdentityGateway,
  request: AccessRequest,
): Promise<AdmissionResult> {
  const { hostname, path, search, headers } = request;
  const application = applicationFor(state, hostname, path);
  if (application === undefined || isBypassed(state, application)) return { kind: "pass", headers: {} };

  const token = tokenOf(headers);
  const { allowed, email } =
    token === undefined ? { allowed: false, email: undefined } : await access.verify(token, application.aud);
  if (allowed && token !== undefined) {
    return {
      kind: "pass",
      headers: { "cf-access-jwt-assertion": token, "cf-access-authenticated-user-email": email },
    };
  }
  if (headers["x-requested-with"] === "XMLHttpRequest") return { kind: "answer", status: 401, headers: {} };
  const location = access.loginUrl(headers.host ?? hostname, application.aud, `${path}${search}`);
  return { kind: "answer", status: 302, headers: { location, "cache-control": "no-store" } };
}

/** Returns true if only the edge may set this header; the client's value is dropped. */
export function isIdentityHeader(name: string): boolean {
  return name.startsWith("cf-access-") || name === "cf-connecting-ip";
}

function tokenOf(headers: IncomingHttpHeaders): string | undefined {
  const header = headers["cf-access-token"];
  if (typeof header === "string" && header !== "") return header;
  return /(?:^|;\s*)CF_Authorization=([^;]+)/.exec(headers.cookie ?? "")?.[1];
}
