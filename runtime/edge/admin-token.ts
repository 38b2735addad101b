import { parse } from "hono/utils/cookie";
import { StewardError } from "../contract/errors.ts";
import { bearerToken, sameToken } from "../contract/token.ts";
import type { Identify, IdentityDecision } from "./identity.ts";
import { PER_MINUTE } from "./limits.ts";
import type { Clock } from "./ports.ts";
import { RateLimit } from "./rate-limit.ts";
import { type SignIn, signInUrl } from "./sign-in/route.ts";
import { createSessions, SESSION_COOKIE } from "./sign-in/session.ts";

/** Settings of {@link adminTokenAccess}. */
export interface AdminTokenOptions {
  adminToken: string;
  clock: Clock;
}

const ADMIN: IdentityDecision = { allowed: true, identity: { name: "admin" } };

/**
 * Identity on a host without an identity gateway: ADMIN_TOKEN as a Bearer, or the session of a browser
 * that signed in with it. A right token always passes, however many wrong ones came before it: only those wait. So it
 * is the token's length that keeps it from being guessed, and a stack takes none below 16 characters.
 */
export function adminTokenAccess({ adminToken, clock }: AdminTokenOptions): {
  identify: Identify;
  signIn: SignIn;
} {
  const sessions = createSessions(adminToken, clock);
  const wrongTokens = new RateLimit({ perMinute: PER_MINUTE.wrongTokens, clock });
  const check: SignIn["check"] = (token, client) => {
    if (sameToken(token, adminToken)) return { right: true };
    return { right: false, retryAfterSeconds: wrongTokens.take(client) };
  };
  return {
    async identify(request, client) {
      const { [SESSION_COOKIE]: session } = parse(request.headers.get("cookie") ?? "", SESSION_COOKIE);
      if (await sessions.verify(session)) return ADMIN;
      const authorization = request.headers.get("authorization");
      if (authorization !== null) {
        const checked = check(bearerToken(authorization), client);
        if (checked.right) return ADMIN;
        const { retryAfterSeconds } = checked;
        if (retryAfterSeconds > 0) {
          return { allowed: false, error: new StewardError("rate_limited"), retryAfterSeconds };
        }
      }
      const detail = `Send ADMIN_TOKEN as a Bearer in the Authorization header, or sign in with a browser.`;
      const error = new StewardError("identity_required", detail);
      return { allowed: false, error, loginUrl: signInUrl(request) };
    },
    signIn: { check, sessions },
  };
}
