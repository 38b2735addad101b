import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { randomBytes } from "node:crypto";
import type { Server } from "node:http";
import * as z from "zod";
import { listenOnLoopback } from "../loopback.ts";
import { signingKey } from "./keys.ts";
import { deniedPage, messagePage, signInPage } from "./pages.ts";
import type { Decision } from "./policy.ts";
import { checkToken, issueToken, type TokenOptions, type TokenRequest } from "./tokens.ts";

const CODE_LIFE_MS = 60_000;
// The gateway redirects with a code in the address: to nowhere but this machine.
const LOOPBACK_HOST = /^(127\.0\.0\.1|localhost)(:\d{1,5})?$/;

export interface IdentityGatewayOptions {
  /** 0 takes a free port. A stack that keeps the team domain needs the same port at every run. */
  port: number;
  /** Where the signing key persists. */
  dir: string;
  /** How long a sign-in lasts. */
  sessionHours: number;
  /** Milliseconds since the epoch. */
  clock: () => number;
  /** Whether somebody may sign in to the application of that audience: the account's policies decide. */
  admit: (request: { aud: string; email: string }) => Decision;
}

/** The gateway as the front and the commands use it. */
export interface IdentityGateway {
  /** Its origin: the token's issuer, and what EDGE_ACCESS_TEAM_DOMAIN is set to. */
  url: string;
  sessionSeconds: number;
  /** Where a browser signs in and is sent back to `path` on `host`. */
  loginUrl(host: string, aud: string, path: string): string;
  /** Makes a token without a sign-in and without asking a policy: for tests, and for a command to print. */
  issue(request: TokenRequest): Promise<string>;
  verify(token: string, aud: string): Promise<Decision & { email?: string }>;
  /** Takes the token that belongs to a one-time code of a sign-in. Undefined when it is unknown, used or old. */
  redeem(code: string): string | undefined;
  close(): Promise<void>;
}

/**
 * Starts the local stand-in for a Zero Trust team domain on 127.0.0.1: its key set, its sign-in page and its tokens.
 * https://developers.cloudflare.com/cloudflare-one/access-controls/applications/http-apps/authorization-cookie/
 */
export async function startIdentityGateway(options: IdentityGatewayOptions): Promise<IdentityGateway> {
  const { dir, sessionHours, clock, admit } = options;
  const key = await signingKey(dir);
  const codes = new Map<string, { token: string; until: number }>();
  const app = new Hono();
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  const { url, close } = await listenOnLoopback(server, options.port);
  const tokens: TokenOptions = { key, issuer: url, sessionSeconds: sessionHours * 3600, clock };

  app.get("/cdn-cgi/access/certs", (context) => context.json({ keys: [key.jwk], public_certs: [] }));

  app.get("/cdn-cgi/access/login/:host", (context) => {
    const { host } = context.req.param();
    if (!LOOPBACK_HOST.test(host)) return context.html(foreignHost(), 400);
    return context.html(signInPage(host, context.req.url.slice(url.length)));
  });

  app.post("/cdn-cgi/access/login/:host", async (context) => {
    const { host } = context.req.param();
    if (!LOOPBACK_HOST.test(host)) return context.html(foreignHost(), 400);
    const { kid: aud = "", redirect_url: path = "/" } = context.req.query();
    const email = z.email().safeParse((await context.req.parseBody())["email"]);
    if (!email.success) {
      const again = signInPage(host, context.req.url.slice(url.length), "That is not an e-mail address.");
      return context.html(again, 400);
    }
    if (!admit({ aud, email: email.data }).allowed) return context.html(deniedPage(host, email.data), 403);
    const code = randomBytes(16).toString("hex");
    const token = await issueToken(tokens, { aud, email: email.data });
    codes.set(code, { token, until: clock() + CODE_LIFE_MS });
    const back = new URLSearchParams({ nonce: code, state: localPath(path) });
    return context.redirect(`http://${host}/cdn-cgi/access/authorized?${back}`, 302);
  });

  return {
    url,
    sessionSeconds: tokens.sessionSeconds,
    loginUrl(host, aud, path) {
      const query = new URLSearchParams({ kid: aud, redirect_url: path });
      return `${url}/cdn-cgi/access/login/${encodeURIComponent(host)}?${query}`;
    },
    issue: (request) => issueToken(tokens, request),
    verify: (token, aud) => checkToken(tokens, token, aud),
    redeem(code) {
      const found = codes.get(code);
      codes.delete(code);
      for (const [old, { until }] of codes) if (until < clock()) codes.delete(old);
      return found && found.until >= clock() ? found.token : undefined;
    },
    close,
  };
}

function foreignHost(): ReturnType<typeof messagePage> {
  return messagePage("Not here", "The local identity gateway signs in to addresses of this machine only.");
}

/** A path of the application itself; anything else becomes its start page. */
export function localPath(path: string): string {
  return /^\/(?![/\\])/.test(path) ? path : "/";
}
