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

export interface Visitor {
  identity: Identity;
  /** True if steward itself manages the sign-in session, so that pages can offer to sign out. */
  signsOut: boolean;
  environment: string | undefined;
  /**
   * The chat whose sandbox the pages show. `everyChat` stands for the sandbox that belongs to the deployment and not
   * to a chat. Absent if all chats share one sandbox.
   */
  chat?: TenantId | "everyChat" | undefined;
  /** Revision of the displayed state, for `/_admin/api/changes`. */
  revision: string;
  health: Health;
  facts: HealthFacts;
  /** Time in milliseconds since the epoch. Container answers stored since this time may be reused. */
  reuseAfter?: number | undefined;
  /** ISO 8601 time of cached `facts.details`; absent if they are current. */
  asOf?: string | undefined;
  /** Reason why a running gateway's current status is unavailable. */
  problem?: Reason | undefined;
  backups: Attempt<BackupsStatus>;
}

/** Variables set by the platform and the access middleware. */
export interface AccessVariables {
  Bindings: Client;
  /**
   * `visitor` loads the page's state on the first call, so requests that show no page do not wait for the state. Pages
   * call it before they read their content, so that its revision reports changes in between.
   */
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

/** Requires an identity for webhook requests if PUBLIC_WEBHOOKS is false. */
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
 * Starts a stopped container when an operator opens a page, but not when the page reloads automatically, which would
 * keep the container awake.
 */
export function wakeForOperator(sandbox: Pick<Sandbox, "wake">): MiddlewareHandler {
  return async function wakeForOperatorMiddleware(context, next) {
    const opens = context.req.method === "GET" && wantsHtml(context.req.raw);
    if (opens && context.req.query("follow") === undefined) await sandbox.wake("operator");
    await next();
  };
}

export function noStore(): MiddlewareHandler {
  return async function noStoreMiddleware(context, next) {
    await next();
    context.header("cache-control", "no-store");
  };
}

/**
 * Refuses changes requested by another origin's page. Checks the Sec-Fetch-Site header. Browsers omit this header on
 * plain HTTP; the Origin header is then checked instead. If both are missing, refuses a request that has a cookie. In
 * addition, the API accepts only JSON, which a plain HTML form cannot send.
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
 * Refuses requests that another origin's page triggers, because the browser adds the session cookie to them. This
 * includes GET requests, because some start the container. A person who followed a link can confirm the request.
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
 * Returns true if a GET request comes from a program, a page of this origin or the address bar. Only such a GET
 * request may run a command that changes something.
 */
export function isTrustedSource({ headers }: Request, { isProgram }: Identity): boolean {
  return isProgram || OWN_SITES.has(headers.get("sec-fetch-site") ?? "");
}

/**
 * Responds with a page on which a person confirms the request. The page's button sends the same request from this
 * origin. Refuses clients that do not accept HTML.
 */
export function askToContinue(
  context: Context,
  method: "get" | "post" = "get",
): Response | Promise<Response> {
  const { raw } = context.req;
  if (!wantsHtml(raw)) return sendProblem(method === "get" ? "cross_site" : "change_unproven");
  const { pathname, search } = new URL(raw.url);
  return context.html(ContinuePage({ address: `${pathname}${search}`, method }));
}

/**
 * Returns a client's IPv4 address or IPv6 prefix, which identifies the client for rate limits. Clients without an
 * address share one limit.
 */
export function clientOf(context: Context): string {
  // Tests pass no bindings, so `env` may be undefined.
  const address: unknown = context.env?.clientAddress;
  return typeof address === "string" && address !== "" ? networkOf(address) : "unknown";
}
