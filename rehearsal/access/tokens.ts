import { errors, jwtVerify, SignJWT } from "jose";
import { createHash, randomBytes } from "node:crypto";
import { ALGORITHM, type SigningKey } from "./keys.ts";
import type { Decision } from "./policy.ts";

export interface TokenRequest {
  aud: string;
  email: string;
  /** Lifetime in seconds; negative for an expired token. Default: the session's length. */
  expiresIn?: number;
}

export interface TokenOptions {
  key: SigningKey;
  issuer: string;
  sessionSeconds: number;
  clock: () => number;
}

/**
 * Issues an application token with the documented claims:
 * https://developers.cloudflare.com/cloudflare-one/access-controls/applications/http-apps/authorization-cookie/application-token/
 */
export async function issueToken(options: TokenOptions, request: TokenRequest): Promise<string> {
  const { key, issuer, sessionSeconds, clock } = options;
  const { aud, email, expiresIn = sessionSeconds } = request;
  const now = Math.floor(clock() / 1000);
  return new SignJWT({ email, type: "app", identity_nonce: randomBytes(8).toString("hex"), country: "XX" })
    .setProtectedHeader({ alg: ALGORITHM, kid: key.jwk.kid, typ: "JWT" })
    .setIssuer(issuer)
    .setAudience([aud])
    .setSubject(subjectOf(email))
    .setIssuedAt(now)
    .setNotBefore(now)
    .setExpirationTime(now + expiresIn)
    .sign(key.privateKey);
}

/** Checks a token's signature, issuer, audience and validity period, as Cloudflare's edge does. */
export async function checkToken(
  options: TokenOptions,
  token: string,
  aud: string,
): Promise<Decision & { email?: string }> {
  const { key, issuer, clock } = options;
  try {
    const { payload } = await jwtVerify(token, key.publicKey, {
      issuer,
      audience: aud,
      algorithms: [ALGORITHM],
      currentDate: new Date(clock()),
    });
    return { allowed: true, reason: "valid token", email: String(payload["email"]) };
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error;
    return { allowed: false, reason: error.code };
  }
}

/** Derives the token's subject from the e-mail address, so that it is the same at every sign-in. */
function subjectOf(email: string): string {
  const hash = createHash("sha256").update(email.toLowerCase()).digest("hex");
  return hash.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
