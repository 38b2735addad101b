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
// Allow only this machine's addresses, because the redirect contains a sign-in code.
const LOOPBACK_HOST = /^(127\.0\.0\.1|localhost)(:\d{1,5})?$/;

export interface IdentityGatewayOptions {
  /** Port to listen on; 0 picks a free one. A stack stores the address, so later runs need the same port. */
  port: number;
  dir: string;
  sessionHours: number;
  clock: () => number;
  /** Decides whether a person may sign in to the application with the audience `aud`. */
  admit: (request: { aud: string; email: string }) => Decision;
}

export interface IdentityGateway {
  /** Token issuer and value of EDGE_ACCESS_TEAM_DOMAIN. */
  url: string;
  sessionSeconds: number;
  loginUrl(host: string, aud: string, path: string): string;
  /** Issues a token without a sign-in or policy check. */
  issue(request: TokenRequest): Promise<string>;
  verify(token: string, aud: string): Promise<Decision & { email?: string }>;
  /** Returns the token for a one-time code; `undefined` if the code is unknown, used or expired. */
  redeem(code: string): string | undefined;
  close(): Promise<void>;
}

/**
 * Starts a local Zero Trust team domain, which signs people in, issues tokens and publishes its public keys:
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
  return messagePage("Not here", "The local identity gateway only serves addresses of this machine.");
}

/** Returns the path if it stays on the application's host, otherwise `/`. Prevents open redirects. */
export function localPath(path: string): string {
  return /^\/(?![/\\])/.test(path) ? path : "/";
}
