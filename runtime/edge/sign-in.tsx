import type { Context, Handler } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import { parse } from "hono/utils/cookie";
import { type ErrorCode, ERRORS, fixOf, StewardError } from "../contract/errors.ts";
import type { Log } from "../shared/log.ts";
import { ROUTES } from "../contract/routes.ts";
import { bearerToken, isSameToken } from "../shared/token.ts";
import { clientOf, wantsHtml } from "./access.ts";
import { readBodyText } from "./admission/body.ts";
import type { Identify, IdentityDecision } from "./identity.ts";
import { ContinuePage } from "./ui/continue.tsx";
import { Document, type Markup } from "./ui/document.tsx";
import { invalid } from "./ui/form.tsx";
import type { Clock } from "./ports.ts";
import { sendProblem } from "./problems.ts";
import { PER_MINUTE, RateLimit } from "./rate-limit.ts";
import { base64url, fromBase64url } from "../contract/digest.ts";

const ADMIN = "admin";

const SESSION_COOKIE = "steward_session";
const SESSION_SECONDS = 12 * 60 * 60;

const HMAC = { name: "HMAC", hash: "SHA-256" };
const FORM = /^(\d{13,15})\.([\w-]{43})$/;
const encoder = new TextEncoder();

/** Base URL with a nonexistent host. A path that resolves to another host is refused. */
const HERE = "http://here.invalid";
// oxlint-disable-next-line no-control-regex -- what a header or the URL parser treats in its own way is refused.
const UNSAFE = /[\u0000-\u0020\u007f\\]/;

export interface SignIn {
  /**
   * Compares a token with ADMIN_TOKEN. After a wrong token, the client must wait `retryAfterSeconds`; if this is 0,
   * it may try again at once.
   */
  check(
    token: string | undefined,
    client: string,
  ): { right: true } | { right: false; retryAfterSeconds: number };
  sessions: Sessions;
}

export function showSignIn(): Handler {
  return function handleShowSignIn(context) {
    return context.html(<SignInPage next={nextPath(context.req.query("next"))} />);
  };
}

/** `POST /_admin/sign-in`: starts a session for the correct token, then redirects to `next`. */
export function signIn({ check, sessions }: SignIn, log: Log): Handler {
  return async function handleSignIn(context) {
    const form = new URLSearchParams(await readBodyText(context.req.raw));
    const next = nextPath(form.get("next"));
    const client = clientOf(context);
    const token = form.get("token") ?? "";
    // An empty field does not count as an attempt.
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
    // Ask for confirmation if the URL has a query, because a link to the sign-in page could otherwise trigger an
    // action.
    if (!next.includes("?")) return context.redirect(next, 303);
    return context.html(<ContinuePage address={next} />);
  };
}

/** `POST /_admin/sign-out`: deletes the browser's session cookie. */
export function signOut(): Handler {
  return function handleSignOut(context) {
    const secure = isHttps(context);
    deleteCookie(context, SESSION_COOKIE, { path: "/", httpOnly: true, sameSite: "Strict", secure });
    return context.redirect(ROUTES.signInPage.path, 303);
  };
}

async function refuse(
  context: Context,
  next: string,
  code: Extract<ErrorCode, "sign_in_refused" | "sign_in_limited">,
  retryAfterSeconds?: number,
): Promise<Response> {
  const after = { ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  if (!wantsHtml(context.req.raw)) return sendProblem(code, undefined, after);
  if (retryAfterSeconds !== undefined) context.header("retry-after", String(retryAfterSeconds));
  return context.html(
    <SignInPage next={next} code={code} {...after} />,
    code === "sign_in_limited" ? 429 : 403,
  );
}

/** Returns true if the browser uses HTTPS. Behind a proxy that ends TLS, only the Origin header shows this. */
function isHttps(context: Context): boolean {
  return [context.req.url, context.req.header("origin")].some((url) => url?.startsWith("https://"));
}

/** Returns the path to open after sign-in. Anything other than a path on this site becomes the overview. */
export function nextPath(wanted: string | null | undefined): string {
  const fallback = ROUTES.admin.path;
  if (!wanted?.startsWith("/") || UNSAFE.test(wanted)) return fallback;
  const url = URL.canParse(wanted, HERE) ? new URL(wanted, HERE) : undefined;
  // Check again: "/.//evil.example" becomes "//evil.example", which names another host.
  if (url?.origin !== HERE || url.pathname.startsWith("//")) return fallback;
  return url.pathname === ROUTES.signInPage.path ? fallback : `${url.pathname}${url.search}`;
}

function signInUrl(request: Request): string {
  const { pathname, search } = new URL(request.url);
  const next = request.method === "GET" ? nextPath(`${pathname}${search}`) : ROUTES.admin.path;
  return `${ROUTES.signInPage.path}?next=${encodeURIComponent(next)}`;
}

interface SignInView {
  next: string;
  code?: ErrorCode;
  retryAfterSeconds?: number;
}

function SignInPage({ next, code, retryAfterSeconds }: SignInView): Markup {
  return (
    <Document title="Sign in to steward">
      <h1>steward administration</h1>
      {code !== undefined && (
        <aside id="trouble" role="alert">
          <p>
            {ERRORS[code].title}. {fixOf(code)}
            {retryAfterSeconds !== undefined && ` Try again in ${retryAfterSeconds} s.`}
          </p>
        </aside>
      )}
      <form method="post" action={ROUTES.signIn.path}>
        <label for="token">Admin token</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="current-password"
          required
          autofocus
          {...invalid(code !== undefined, "trouble")}
        />
        <input type="hidden" name="next" value={next} />
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
      <p class="soft">Use the value of ADMIN_TOKEN in this deployment.</p>
    </Document>
  );
}

export function SignOutForm(): Markup {
  return (
    <form method="post" action={ROUTES.signOut.path}>
      <button type="submit">Sign out</button>
    </form>
  );
}

/** Stateless sessions: a signed cookie, nothing stored on the server. */
interface Sessions {
  issue(): Promise<string>;
  /** Returns true for an unexpired value signed with the current key. */
  verify(value: string | undefined): Promise<boolean>;
}

/**
 * Creates sessions. The signing key derives from the admin token, so a new token ends every session. A copied cookie
 * stays valid after sign-out until it expires.
 */
function createSessions(adminToken: string, clock: Clock): Sessions {
  const key = deriveKey(adminToken);
  return {
    async issue() {
      const expiresAt = String(clock() + SESSION_SECONDS * 1_000);
      const signature = await crypto.subtle.sign("HMAC", await key, encoder.encode(expiresAt));
      return `${expiresAt}.${base64url(new Uint8Array(signature))}`;
    },
    async verify(value) {
      const [, expiresAt, signature] = FORM.exec(value ?? "") ?? [];
      if (expiresAt === undefined || signature === undefined || Number(expiresAt) <= clock()) return false;
      return crypto.subtle.verify("HMAC", await key, fromBase64url(signature), encoder.encode(expiresAt));
    },
  };
}

/** Derives the signing key with HKDF (RFC 5869). `info` restricts the key to sessions. */
async function deriveKey(adminToken: string) {
  const secret = await crypto.subtle.importKey("raw", encoder.encode(adminToken), "HKDF", false, [
    "deriveKey",
  ]);
  const purpose = { salt: new Uint8Array(), info: encoder.encode("steward-session-v1") };
  const usages = ["sign", "verify"] as const;
  const hkdf = { name: "HKDF", hash: "SHA-256", ...purpose };
  return crypto.subtle.deriveKey(hkdf, secret, { ...HMAC, length: 256 }, false, [...usages]);
}

interface AdminTokenOptions {
  adminToken: string;
  clock: Clock;
}

/**
 * Identifies operators on a host without an identity gateway: by ADMIN_TOKEN as a Bearer token, or by a session. The
 * rate limit applies only to wrong tokens. To prevent guessing, stacks require a token of at least 16 characters.
 */
export function adminTokenAccess({ adminToken, clock }: AdminTokenOptions): {
  identify: Identify;
  signIn: SignIn;
} {
  const sessions = createSessions(adminToken, clock);
  const wrongTokens = new RateLimit({ perMinute: PER_MINUTE.wrongTokens, clock });
  const check: SignIn["check"] = (token, client) => {
    if (isSameToken(token, adminToken)) return { right: true };
    return { right: false, retryAfterSeconds: wrongTokens.take(client) };
  };
  return {
    async identify(request, client) {
      const allowed = (isProgram: boolean): IdentityDecision => ({
        allowed: true,
        identity: { name: ADMIN, isProgram },
      });
      const authorization = request.headers.get("authorization");
      const token = authorization === null ? undefined : bearerToken(authorization);
      if (isSameToken(token, adminToken)) return allowed(true);
      const { [SESSION_COOKIE]: session } = parse(request.headers.get("cookie") ?? "", SESSION_COOKIE);
      if (await sessions.verify(session)) return allowed(false);
      const retryAfterSeconds = authorization === null ? 0 : wrongTokens.take(client);
      if (retryAfterSeconds > 0) {
        return { allowed: false, error: new StewardError("rate_limited"), retryAfterSeconds };
      }
      const detail = `Send ADMIN_TOKEN as a Bearer in the Authorization header, or sign in with a browser.`;
      const error = new StewardError("identity_required", detail);
      return { allowed: false, error, loginUrl: signInUrl(request) };
    },
    signIn: { check, sessions },
  };
}
