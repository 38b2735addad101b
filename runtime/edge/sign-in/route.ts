import type { Context, Handler } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import type { Log } from "../../contract/log.ts";
import type { ErrorCode } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import { wantsHtml } from "../access.ts";
import { readText } from "../admission/body.ts";
import { clientOf } from "../limits.ts";
import { continuePage } from "../pages/continue.ts";
import { contentSecurityPolicy } from "../pages/layout.ts";
import { signInPage } from "../pages/sign-in.ts";
import { sendProblem } from "../problems.ts";
import { nextPath } from "./next.ts";
import { SESSION_COOKIE, SESSION_SECONDS, type Sessions } from "./session.ts";

/** What signing in works with. */
export interface SignIn {
  /** Compares a token with ADMIN_TOKEN, and counts a wrong one for its client: 0 seconds is below the limit. */
  check(
    token: string | undefined,
    client: string,
  ): { right: true } | { right: false; retryAfterSeconds: number };
  sessions: Sessions;
}

/** `GET /_admin/sign-in?next=`: the form. */
export function showSignIn(): Handler {
  return async function handleShowSignIn(context) {
    context.header("content-security-policy", await contentSecurityPolicy());
    return context.html(signInPage({ next: nextPath(context.req.query("next")) }));
  };
}

/** `POST /_admin/sign-in`: a session for whoever knows the token, then on to `next`. */
export function signIn({ check, sessions }: SignIn, log: Log): Handler {
  return async function handleSignIn(context) {
    const form = new URLSearchParams(await readText(context.req.raw));
    const next = nextPath(form.get("next"));
    const client = clientOf(context);
    const token = form.get("token") ?? "";
    // A field that was left empty is no try.
    if (token === "") return refuse(context, next, "sign_in_refused");
    const checked = check(token, client);
    if (!checked.right) {
      const { retryAfterSeconds } = checked;
      if (retryAfterSeconds > 0) return refuse(context, next, "sign_in_limited", retryAfterSeconds);
      log.warn("a wrong admin token was given", { client });
      return refuse(context, next, "sign_in_refused");
    }
    log.info("somebody signed in with the admin token", { client });
    const attributes = { path: "/", httpOnly: true, sameSite: "Strict", secure: isHttps(context) } as const;
    setCookie(context, SESSION_COOKIE, await sessions.issue(), { ...attributes, maxAge: SESSION_SECONDS });
    // A link to the sign-in page must not make whoever signs in run what a debug route does by its query.
    if (!next.includes("?")) return context.redirect(next, 303);
    context.header("content-security-policy", await contentSecurityPolicy());
    return context.html(continuePage(next));
  };
}

/** `POST /_admin/sign-out`: takes the session from the browser. */
export function signOut(): Handler {
  return function handleSignOut(context) {
    const secure = isHttps(context);
    deleteCookie(context, SESSION_COOKIE, { path: "/", httpOnly: true, sameSite: "Strict", secure });
    return context.redirect(ROUTES.signInPage.path, 303);
  };
}

/** The form once more with what is wrong, or the problem for whoever is no browser. */
async function refuse(
  context: Context,
  next: string,
  code: Extract<ErrorCode, "sign_in_refused" | "sign_in_limited">,
  retryAfterSeconds?: number,
): Promise<Response> {
  const after = { ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  if (!wantsHtml(context.req.raw)) return sendProblem(code, undefined, after);
  if (retryAfterSeconds !== undefined) context.header("retry-after", String(retryAfterSeconds));
  context.header("content-security-policy", await contentSecurityPolicy());
  return context.html(signInPage({ next, code, ...after }), code === "sign_in_limited" ? 429 : 403);
}

/** Behind a proxy that ends TLS the request itself is plain; the page's origin is the browser's own word. */
function isHttps(context: Context): boolean {
  return [context.req.url, context.req.header("origin")].some((url) => url?.startsWith("https://"));
}
