import { createRemoteJWKSet, errors, jwtVerify, type JWTVerifyGetKey } from "jose";
import { StewardError } from "../contract/errors.ts";

const CLOCK_TOLERANCE_SECONDS = 30;
const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/;
const HOST_NAME = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/i;

/** Identity verified by the identity gateway or proven with ADMIN_TOKEN. */
export interface Identity {
  /** A person's e-mail address, or a service token's common name. */
  name: string;
  /** True for a Bearer or service token, which a page cannot make a browser send. */
  isProgram: boolean;
}

export type IdentityDecision =
  | { allowed: true; identity: Identity }
  | { allowed: false; error: StewardError; loginUrl?: string; retryAfterSeconds?: number };

/** Identifies the sender of a request. Wrong tokens count against the rate limit of `client`. */
export type Identify = (request: Request, client: string) => Promise<IdentityDecision>;

/**
 * Returns the identity gateway's origin, or `undefined` if `teamDomain` is invalid. `teamDomain` may be a full origin
 * only if its host is a loopback host, as in the rehearsal.
 */
function teamOrigin(teamDomain: string): string | undefined {
  if (LOOPBACK.test(teamDomain)) return teamDomain;
  return HOST_NAME.test(teamDomain) ? `https://${teamDomain.toLowerCase()}` : undefined;
}

export interface AccessOptions {
  teamDomain: string | undefined;
  audience: string | undefined;
  /** Returns the identity gateway's public keys. Default: `createRemoteJWKSet`, which fetches them. */
  keys?: (certificates: URL) => JWTVerifyGetKey;
}

/**
 * Returns a function that verifies the identity gateway's application token, because a request may bypass that
 * gateway:
 * https://developers.cloudflare.com/cloudflare-one/access-controls/applications/http-apps/authorization-cookie/validating-json/
 */
export function accessIdentity({ teamDomain, audience, keys = createRemoteJWKSet }: AccessOptions): Identify {
  if (audience === undefined) return refuse(notConfigured("EDGE_ACCESS_AUD"));
  if (teamDomain === undefined) return refuse(notConfigured("EDGE_ACCESS_TEAM_DOMAIN"));
  const issuer = teamOrigin(teamDomain);
  if (issuer === undefined) {
    const detail = "EDGE_ACCESS_TEAM_DOMAIN is not a bare host name such as team.cloudflareaccess.com.";
    return refuse(new StewardError("access_misconfigured", detail));
  }
  const keySet = keys(new URL("/cdn-cgi/access/certs", issuer));

  return async function identify(request) {
    const url = new URL(request.url);
    if (url.host === new URL(issuer).host) {
      const detail = "EDGE_ACCESS_TEAM_DOMAIN is this service's own host; it must be the identity gateway's.";
      return { allowed: false, error: new StewardError("access_misconfigured", detail) };
    }
    const login = loginUrl(issuer, audience, url);
    const token = readToken(request.headers);
    if (token === undefined) {
      return { allowed: false, error: new StewardError("identity_required"), loginUrl: login };
    }
    try {
      // RFC 8725 section 3.1: accept one fixed algorithm, whatever the token specifies.
      const { payload, protectedHeader } = await jwtVerify(token, keySet, {
        issuer,
        audience,
        algorithms: ["RS256"],
        requiredClaims: ["exp", "iat"],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        // Without `maxTokenAge`, jose would accept tokens that were issued in the future. The value exceeds any
        // session length.
        maxTokenAge: "366 days",
      });
      // Without a key id, jose would accept any of the identity gateway's keys.
      if (protectedHeader.kid === undefined) throw new errors.JWSInvalid("no kid");
      const { email, common_name: service } = payload;
      const name = email ?? service ?? payload.sub;
      if (typeof name !== "string" || name === "") {
        return {
          allowed: false,
          error: new StewardError("identity_required", "The token contains no name."),
        };
      }
      return { allowed: true, identity: { name, isProgram: email === undefined && service !== undefined } };
    } catch (error) {
      return { allowed: false, error: tokenError(error), loginUrl: login };
    }
  };
}

function readToken(headers: Headers): string | undefined {
  const header = headers.get("cf-access-jwt-assertion");
  if (header !== null && header !== "") return header;
  const cookies = (headers.get("cookie") ?? "").split(";").map((part) => part.trim());
  const cookie = cookies.find((part) => part.startsWith("CF_Authorization="));
  return cookie?.slice("CF_Authorization=".length) || undefined;
}

/**
 * Returns the sign-in URL: https://developers.cloudflare.com/cloudflare-one/access-controls/applications/http-apps/
 */
function loginUrl(issuer: string, audience: string, url: URL): string {
  const login = new URL(`/cdn-cgi/access/login/${url.host}`, issuer);
  login.searchParams.set("kid", audience);
  login.searchParams.set("redirect_url", `${url.pathname}${url.search}`);
  return login.href;
}

/** Explains why a token was refused, without quoting it. */
function tokenError(error: unknown): StewardError {
  if (error instanceof errors.JWTExpired)
    return new StewardError("identity_required", "The sign-in has expired.");
  if (error instanceof errors.JWTClaimValidationFailed) {
    return new StewardError(
      "identity_required",
      `The token's "${error.claim}" claim belongs to another application.`,
    );
  }
  const unverified = [errors.JWTInvalid, errors.JWSInvalid, errors.JWSSignatureVerificationFailed];
  const wrongKey = [errors.JWKSNoMatchingKey, errors.JOSEAlgNotAllowed, errors.JOSENotSupported];
  if ([...unverified, ...wrongKey].some((kind) => error instanceof kind)) {
    return new StewardError("identity_required", "The token was not signed by the identity gateway.");
  }
  return new StewardError("access_unreachable", undefined, { cause: error });
}

function notConfigured(name: string): StewardError {
  return new StewardError("access_not_configured", `${name} is not configured`);
}

function refuse(error: StewardError): Identify {
  return async () => ({ allowed: false, error });
}
