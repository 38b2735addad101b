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

/** Keeps what only some may see, and what leads there, out of every cache. */
export function noStore(): MiddlewareHandler {
  return async function noStoreMiddleware(context, next) {
    await next();
    context.header("cache-control", "no-store");
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
