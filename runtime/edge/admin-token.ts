import { parse } from "hono/utils/cookie";
import { StewardError } from "../contract/errors.ts";
import { bearerToken, sameToken } from "../contract/token.ts";
import type { Identify, IdentityDecision } from "./identity.ts";
import { PER_MINUTE } from "./limits.ts";
import type { Clock } from "./ports.ts";
import { RateLimit } from "./rate-limit.ts";
import { SignInAttempts } from "./sign-in/attempts.ts";
import { signInUrl } from "./sign-in/next.ts";
import type { SignIn } from "./sign-in/route.ts";
import { createSessions, SESSION_COOKIE } from "./sign-in/session.ts";

/** Settings of {@link adminTokenAccess}. */
export interface AdminTokenOptions {
  adminToken: string;
  clock: Clock;
}

const ADMIN: IdentityDecision = { allowed: true, identity: { name: "admin" } };

/**
 * Identity on a host without an identity gateway: ADMIN_TOKEN as a Bearer, or the session of a browser
 * that signed in with it.
 */
export function adminTokenAccess({ adminToken, clock }: AdminTokenOptions): {
  identify: Identify;
  signIn: SignIn;
} {
  const sessions = createSessions(adminToken, clock);
  const wrongBearers = new RateLimit({ perMinute: PER_MINUTE.wrongBearers, clock });
  return {
    async identify(request, client) {
      const { [SESSION_COOKIE]: session } = parse(request.headers.get("cookie") ?? "", SESSION_COOKIE);
      if (await sessions.verify(session)) return ADMIN;
      const authorization = request.headers.get("authorization");
      if (authorization !== null) {
        const retryAfterSeconds = wrongBearers.waitSeconds(client);
        if (retryAfterSeconds > 0) {
          return { allowed: false, error: new StewardError("rate_limited"), retryAfterSeconds };
        }
        if (sameToken(bearerToken(authorization), adminToken)) return ADMIN;
        wrongBearers.take(client);
      }
      const detail = `Send ADMIN_TOKEN as a Bearer in the Authorization header, or sign in with a browser.`;
      const error = new StewardError("identity_required", detail);
      return { allowed: false, error, loginUrl: signInUrl(request) };
    },
    signIn: { adminToken, sessions, attempts: new SignInAttempts(clock) },
  };
}
