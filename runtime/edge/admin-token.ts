import { StewardError } from "../contract/errors.ts";
import { bearerToken, sameToken } from "../contract/token.ts";
import type { Identify } from "./identity.ts";

/** Identity on a host without an identity gateway: ADMIN_TOKEN as a Bearer. */
export function adminTokenIdentity(adminToken: string): Identify {
  return async function identify(request) {
    if (sameToken(bearerToken(request.headers.get("authorization")), adminToken)) {
      return { allowed: true, identity: { name: "admin" } };
    }
    const detail = "Send ADMIN_TOKEN as a Bearer in the Authorization header.";
    return { allowed: false, error: new StewardError("identity_required", detail) };
  };
}
