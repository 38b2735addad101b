import type { MiddlewareHandler } from "hono";
import type { Identify, Identity } from "./identity.ts";
import { sendError, sendProblem } from "./problems.ts";

/** What the access middleware leaves for the handlers behind it. */
export interface AccessVariables {
  Variables: { identity: Identity };
}

/** True for a navigation in a browser, which can follow a redirect to a sign-in page. */
export function wantsHtml(request: Request): boolean {
  return (request.headers.get("accept") ?? "").includes("text/html");
}

/** Lets a request pass that carries an identity; a browser without one is sent to sign in. */
export function requireIdentity(identify: Identify): MiddlewareHandler<AccessVariables> {
  return async function requireIdentityMiddleware(context, next) {
    const decision = await identify(context.req.raw);
    if (decision.allowed) {
      context.set("identity", decision.identity);
      await next();
      return undefined;
    }
    const { error, loginUrl } = decision;
    if (error.code === "identity_required" && loginUrl !== undefined && wantsHtml(context.req.raw)) {
      return context.redirect(loginUrl, 302);
    }
    return sendError(error);
  };
}

/** With PUBLIC_WEBHOOKS=false a webhook needs an identity beside its signature; without one it sees 401. */
export function requirePublicOrIdentity(isPublic: boolean, identify: Identify): MiddlewareHandler {
  return async function webhookAccessMiddleware(context, next) {
    if (!isPublic && !(await identify(context.req.raw)).allowed) return sendProblem("webhooks_private");
    await next();
    return undefined;
  };
}

/** Refuses what another site's page asks for: reading routes with side effects stay same-site. */
export function refuseCrossSite(): MiddlewareHandler {
  return async function crossSiteMiddleware(context, next) {
    if (context.req.header("sec-fetch-site") === "cross-site") return sendProblem("cross_site");
    await next();
    return undefined;
  };
}

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

/**
 * Lets a change pass only from this service's own pages, or from a person: the browser says so in
 * Sec-Fetch-Site, or else the Origin is this host. JSON alone is taken, which no form of another site can send.
 */
export function refuseForeignChanges(): MiddlewareHandler {
  return async function foreignChangeMiddleware(context, next) {
    const { method } = context.req;
    if (method !== "GET" && method !== "HEAD") {
      if (!isOwn(context.req.raw)) return sendProblem("foreign_change");
      if (!JSON_TYPE.test(context.req.header("content-type") ?? "")) {
        return sendProblem("media_type_unsupported");
      }
    }
    await next();
    return undefined;
  };
}

function isOwn(request: Request): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" || site === "none";
  const origin = request.headers.get("origin") ?? "";
  // Hosts, since a proxy that ends TLS leaves the scheme of the browser's address behind.
  return URL.canParse(origin) && new URL(origin).host === new URL(request.url).host;
}
