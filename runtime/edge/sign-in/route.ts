import type { Context, Handler } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import { html } from "hono/html";
import { type ErrorCode, ERRORS } from "../../contract/errors.ts";
import type { Log } from "../../contract/log.ts";
import { ROUTES } from "../../contract/routes.ts";
import { wantsHtml } from "../access.ts";
import { readText } from "../admission/body.ts";
import { clientOf } from "../limits.ts";
import { continuePage } from "../pages/continue.ts";
import { contentSecurityPolicy, type Markup, page } from "../pages/layout.ts";
import { sendProblem } from "../problems.ts";
import { SESSION_COOKIE, SESSION_SECONDS, type Sessions } from "./session.ts";

/** No such site: it shows whether an address stays where it is resolved. */
const HERE = "http://here.invalid";
// oxlint-disable-next-line no-control-regex -- what a header or the URL parser treats in its own way is refused.
const UNSAFE = /[\u0000-\u0020\u007f\\]/;

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

/** Returns where a browser goes once it is signed in: a path of this site with its query; anything else is the overview. */
function nextPath(wanted: string | null | undefined): string {
  const fallback = ROUTES.admin.path;
  if (!wanted?.startsWith("/") || UNSAFE.test(wanted)) return fallback;
  const url = URL.canParse(wanted, HERE) ? new URL(wanted, HERE) : undefined;
  // Looked at after resolving: "/.//evil.example" becomes "//evil.example", which is another host.
  if (url?.origin !== HERE || url.pathname.startsWith("//")) return fallback;
  return url.pathname === ROUTES.signInPage.path ? fallback : `${url.pathname}${url.search}`;
}

/** The sign-in page's address for a request that has no identity. */
export function signInUrl(request: Request): string {
  const { pathname, search } = new URL(request.url);
  const next = request.method === "GET" ? nextPath(`${pathname}${search}`) : ROUTES.admin.path;
  return `${ROUTES.signInPage.path}?next=${encodeURIComponent(next)}`;
}

/** What the sign-in page shows. */
interface SignInView {
  /** Where to go then: a path of this site. */
  next: string;
  /** What was wrong with the try before. */
  code?: ErrorCode;
  retryAfterSeconds?: number;
}

/** The page of `/_admin/sign-in`. */
function signInPage({ next, code, retryAfterSeconds }: SignInView): Markup {
  return page(
    "Sign in to steward",
    html`<h1>steward administration</h1>
      ${code === undefined ? "" : trouble(code, retryAfterSeconds)}
      <form method="post" action="${ROUTES.signIn.path}">
        <label for="token">Admin token</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="current-password"
          required
          autofocus
          ${code === undefined ? "" : html`aria-invalid="true" aria-describedby="trouble"`}
        />
        <input type="hidden" name="next" value="${next}" />
        <button type="submit">Sign in</button>
      </form>
      <p class="soft">It is the value of ADMIN_TOKEN in this deployment.</p>`,
  );
}

/** The button of a page behind the sign-in. */
export function signOutForm(): Markup {
  return html`<form method="post" action="${ROUTES.signOut.path}">
    <button type="submit">Sign out</button>
  </form>`;
}

function trouble(code: ErrorCode, retryAfterSeconds: number | undefined): Markup {
  const { title, fix } = ERRORS[code];
  const wait = retryAfterSeconds === undefined ? "" : ` Try again in ${retryAfterSeconds} s.`;
  return html`<aside id="trouble" role="alert"><p>${title}. ${fix}${wait}</p></aside>`;
}
