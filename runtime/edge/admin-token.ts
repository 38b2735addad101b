import { StewardError } from "../contract/errors.ts";
import { sameText } from "./constant-time.ts";
import type { Identify } from "./identity.ts";

/** Identity on a host without an identity gateway: ADMIN_TOKEN as a Bearer (RFC 6750, section 2.1). */
export function adminTokenIdentity(adminToken: string): Identify {
  return async function identify(request) {
    const [scheme, token = ""] = (request.headers.get("authorization") ?? "").split(" ");
    if (scheme?.toLowerCase() === "bearer" && (await sameText(token, adminToken))) {
      return { allowed: true, identity: { name: "admin" } };
    }
    const detail = "Send ADMIN_TOKEN as a Bearer in the Authorization header.";
    return { allowed: false, error: new StewardError("identity_required", detail) };
  };
}
