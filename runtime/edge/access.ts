import { networkOf } from "../contract/client.ts";
import type { Context, MiddlewareHandler } from "hono";
import type { Client } from "../contract/client.ts";
import type { Reason } from "../contract/errors.ts";
import type { TenantId } from "../contract/tenant.ts";
import { isJson } from "./admission/body.ts";
import type { Health, HealthFacts } from "./health.ts";
import type { Identify, Identity } from "./identity.ts";
import { ContinuePage } from "./ui/continue.tsx";
import type { BackupsStatus, Sandbox } from "./ports.ts";
import type { Attempt } from "./operate.ts";
import { sendError, sendProblem } from "./problems.ts";

/** A page's visitor, and the state that every page shows. */
export interface Visitor {
  identity: Identity;
  /** True if this service manages the session and can end it. */
  signsOut: boolean;
  /** Environment name, such as `prod`. */
  environment: string | undefined;
  /** The chat whose sandbox the pages show. `everyChat` is the deployment's own sandbox; absent without tenants. */
  chat?: TenantId | "everyChat" | undefined;
  health: Health;
  facts: HealthFacts;
  /** Container answers since this time (milliseconds since the epoch) may be reused. */
  reuseAfter?: number | undefined;
  /** ISO 8601 time of `facts.details` if they are cached; absent if they are current. */
  asOf?: string | undefined;
  /** Why a running gateway's current status is unavailable. */
  problem?: Reason | undefined;
  /** Backup status, or why it is unknown. */
  backups: Attempt<BackupsStatus>;
}

/** Variables that the platform and the access middleware set for handlers. */
export interface AccessVariables {
  Bindings: Client;
  /** `visitor` loads the state on first use, so that requests for changes do not wait for it. */
  Variables: { identity: Identity; visitor(): Promise<Visitor> };
}

const CHANGES: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);
/** `Sec-Fetch-Site` values of this origin's pages and of direct navigation. */
const OWN_SITES: ReadonlySet<string> = new Set(["same-origin", "none"]);

/** Returns true for a browser navigation, which can follow a redirect to a sign-in page. */
export function wantsHtml(request: Request): boolean {
  return (request.headers.get("accept") ?? "").includes("text/html");
}

/** Requires an identity. Browsers without one are redirected to sign in. */
export function requireIdentity(identify: Identify): MiddlewareHandler<AccessVariables> {
  return async function requireIdentityMiddleware(context, next) {
    const decision = await identify(context.req.raw, clientOf(context));
    if (decision.allowed) {
      context.set("identity", decision.identity);
      await next();
      return undefined;
    }
    const { error, loginUrl, ...after } = decision;
    if (error.code === "identity_required" && loginUrl !== undefined && wantsHtml(context.req.raw)) {
      return context.redirect(loginUrl, 302);
    }
    return sendError(error, after);
  };
}

/** With PUBLIC_WEBHOOKS=false, requires an identity in addition to the webhook's signature, or responds 401. */
export function requirePublicOrIdentity(isPublic: boolean, identify: Identify): MiddlewareHandler {
  return async function webhookAccessMiddleware(context, next) {
    if (!isPublic && !(await identify(context.req.raw, clientOf(context))).allowed) {
      return sendProblem("webhooks_private");
    }
    await next();
    return undefined;
  };
}

/**
 * Starts a stopped container when an operator opens a page. Automatic reloads, such as of the log page, do not
 * count: a page left open would keep the container awake.
 */
export function wakeForOperator(sandbox: Pick<Sandbox, "wake">): MiddlewareHandler {
  return async function wakeForOperatorMiddleware(context, next) {
    const opens = context.req.method === "GET" && wantsHtml(context.req.raw);
    if (opens && context.req.query("follow") === undefined) await sandbox.wake("operator");
    await next();
  };
}

/** Prevents caching of restricted content and of redirects to it. */
export function noStore(): MiddlewareHandler {
  return async function noStoreMiddleware(context, next) {
    await next();
    context.header("cache-control", "no-store");
  };
}

/**
 * Refuses changes that another origin's page requests, and on the API those that a plain form could send. On plain
 * HTTP, browsers omit Sec-Fetch-Site, so the Origin header decides. Without both headers, a request with a cookie
 * is refused, since an old browser may have sent it.
 */
export function refuseForeignChanges(): MiddlewareHandler {
  return async function foreignChangesMiddleware(context, next) {
    if (!CHANGES.has(context.req.method)) return next();
    const site = context.req.header("sec-fetch-site");
    const origin = context.req.header("origin");
    const isOwn =
      origin === undefined
        ? context.req.header("cookie") === undefined
        : origin === new URL(context.req.url).origin;
    if (site === undefined ? !isOwn : !OWN_SITES.has(site)) return sendProblem("cross_site");
    const isApi = context.req.path.startsWith("/_admin/api/");
    if (isApi && !isJson(context.req.header("content-type"))) return sendProblem("media_type_unsupported");
    return next();
  };
}

/**
 * Refuses requests from other origins' pages, even of the same site: the browser adds the session cookie, and some
 * GET routes start the container. A person who followed a link here, for example after sign-in, is asked to
 * confirm.
 */
export function refuseCrossSite(): MiddlewareHandler {
  return async function crossSiteMiddleware(context, next) {
    const site = context.req.header("sec-fetch-site");
    if (site === undefined || OWN_SITES.has(site)) return next();
    const { method } = context.req;
    const isVisit = method === "GET" && context.req.header("sec-fetch-dest") === "document";
    return isVisit ? askToContinue(context) : sendProblem("cross_site");
  };
}

/**
 * Returns true if a GET may change something: it has a program's secret, or the browser marks it as sent by this
 * origin or as typed. Any other request may come from a foreign page with the user's session. On plain HTTP,
 * browsers omit the mark, so their requests are not deliberate.
 */
export function isDeliberate({ headers }: Request, { isProgram }: Identity): boolean {
  return isProgram || OWN_SITES.has(headers.get("sec-fetch-site") ?? "");
}

/** Responds with a page whose button opens the same address by `method`. Refuses clients that do not accept HTML. */
export function askToContinue(
  context: Context,
  method: "get" | "post" = "get",
): Response | Promise<Response> {
  const { raw } = context.req;
  if (!wantsHtml(raw)) return sendProblem(method === "get" ? "cross_site" : "change_unproven");
  const { pathname, search } = new URL(raw.url);
  return context.html(ContinuePage({ address: `${pathname}${search}`, method }));
}

/** Returns the client whose rate limit applies to an unidentified request. Unknown addresses share one limit. */
export function clientOf(context: Context): string {
  // Tests pass no bindings, so `env` may be undefined.
  const address: unknown = context.env?.clientAddress;
  return typeof address === "string" && address !== "" ? networkOf(address) : "unknown";
}
