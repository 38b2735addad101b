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

/** Visitor of a page, with what every page shows. */
export interface Visitor {
  identity: Identity;
  /** This service holds the session, so it offers to end it. */
  signsOut: boolean;
  /** Name of the deployment's environment, such as `prod`. */
  environment: string | undefined;
  /** The chat whose sandbox the pages show; see Tenants. `everyChat`: the one that serves the deployment. */
  chat?: TenantId | "everyChat" | undefined;
  health: Health;
  facts: HealthFacts;
  /** Milliseconds since the epoch: what the container said from then on need not be asked again. */
  reuseAfter?: number | undefined;
  /** ISO 8601: when the gateway said what `facts.details` holds; absent where it says it now. */
  asOf?: string | undefined;
  /** Why the gateway does not say it now, though it runs. */
  problem?: Reason | undefined;
  /** State of the backups, or why it is unknown. */
  backups: Attempt<BackupsStatus>;
}

/** Variables that a platform and the access middleware leave for the handlers behind them. */
export interface AccessVariables {
  Bindings: Client;
  /** `visitor` asks for the state once, where a page is shown: a change does not wait for it. */
  Variables: { identity: Identity; visitor(): Promise<Visitor> };
}

/** The methods that may change something. */
const CHANGES: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);
/** Values by which a browser tells of a page of this origin, and of what a person did without any page. */
const OWN_SITES: ReadonlySet<string> = new Set(["same-origin", "none"]);

/** True for a navigation in a browser, which can follow a redirect to a sign-in page. */
export function wantsHtml(request: Request): boolean {
  return (request.headers.get("accept") ?? "").includes("text/html");
}

/** Lets a request pass that carries an identity; a browser without one is sent to sign in. */
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

/** With PUBLIC_WEBHOOKS=false a webhook needs an identity beside its signature; without one it sees 401. */
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
 * Starts a stopped container for an operator who opens a page. A page that reloads, such as the one that
 * follows the logs, does not count: left open, it would keep the container awake for ever.
 */
export function wakeForOperator(sandbox: Pick<Sandbox, "wake">): MiddlewareHandler {
  return async function wakeForOperatorMiddleware(context, next) {
    const opens = context.req.method === "GET" && wantsHtml(context.req.raw);
    if (opens && context.req.query("follow") === undefined) await sandbox.wake("operator");
    await next();
  };
}

/** Keeps what only some may see, and what leads there, out of every cache. */
export function noStore(): MiddlewareHandler {
  return async function noStoreMiddleware(context, next) {
    await next();
    context.header("cache-control", "no-store");
  };
}

/**
 * Refuses a change that another origin's page asks for, and on the API one that a plain form could send.
 * Browsers leave Sec-Fetch-Site out on plain http; there the Origin tells, which they send with every
 * change. A request with neither is refused if it brings a cookie, since an old browser may have sent it.
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
 * Refuses what another origin's page asks for, also one of the same site, to which the browser adds the
 * session: some of these routes start the container or do more, although they are asked by GET. A person who was led
 * here, as by the identity gateway after the sign-in, is asked whether to continue.
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
 * Tells whether a GET may change something: it carries a program's secret, or the browser says that it comes from this
 * origin or was typed. Another origin's page can make a browser send any other request with its session. On plain http
 * one for an image on a sibling host looks like a program's.
 */
export function isDeliberate({ headers }: Request, { isProgram }: Identity): boolean {
  return isProgram || OWN_SITES.has(headers.get("sec-fetch-site") ?? "");
}

/**
 * Answers a visit with a page whose button opens the same address, by `method`. A request that accepts no page is
 * refused.
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

/** Returns the client whose rate limit applies to a request without an identity. Unknown addresses share one. */
export function clientOf(context: Context): string {
  // Without bindings, as in a test, Hono passes no environment.
  const address: unknown = context.env?.clientAddress;
  return typeof address === "string" && address !== "" ? networkOf(address) : "unknown";
}
