import { describe, expect, it } from "vitest";
import { ROUTES, type Route } from "../../../runtime/contract/routes.ts";
import { PER_MINUTE } from "../../../runtime/edge/rate-limit.ts";
import { createSigner, edgeFixture } from "../../support/edge.ts";

const HOST = "https://steward.example.com";
const ADMIN_TOKEN = "the-admin-token-0123456789";
const BROWSER = { accept: "text/html,*/*" };
const BEARER = { authorization: `Bearer ${ADMIN_TOKEN}` };
const STATES = ["ready", "starting", "stopped", "crash-looping"] as const;

const EVERYWHERE: Record<string, RegExp> = {
  "x-content-type-options": /^nosniff$/,
  "x-frame-options": /^DENY$/,
  "referrer-policy": /^same-origin$/,
  "strict-transport-security": /^max-age=\d{7,}/,
};
/** Headers that the constant answer of the liveness check does without. */
const NOT_LIVE: Record<string, RegExp> = {
  "strict-transport-security": /^max-age=15552000; includeSubDomains$/,
  "cross-origin-resource-policy": /^same-origin$/,
  "cross-origin-opener-policy": /^same-origin$/,
  "origin-agent-cluster": /^\?1$/,
  "x-dns-prefetch-control": /^off$/,
};
const HTML_POLICY = /^default-src 'none'; (?!.*unsafe).*frame-ancestors 'none'$/;
const UNCACHED = { "cache-control": /^no-store$/ };

/** The headers of an answer that are not as they have to be. */
function wrongHeaders({ headers }: Response, others: Record<string, RegExp> = {}): string[] {
  const isHtml = headers.get("content-type")?.startsWith("text/html");
  const wanted = { ...EVERYWHERE, ...(isHtml && { "content-security-policy": HTML_POLICY }), ...others };
  const wrong = Object.entries(wanted).filter(([name, value]) => !value.test(headers.get(name) ?? ""));
  return wrong.map(([name]) => `${name}: ${headers.get(name)}`);
}

describe.each(Object.values<Route>(ROUTES))("$method $path", ({ method, path, access }) => {
  it("says how it may be shown and kept, to whomever and in whatever state", async () => {
    for (const state of STATES) {
      for (const headers of [{}, BROWSER, BEARER, { ...BROWSER, ...BEARER }]) {
        const { app } = edgeFixture({ state, adminToken: ADMIN_TOKEN });
        const response = await app.request(`${HOST}${path}`, { method, headers });
        const uncached =
          ["identity", "stack"].includes(access) || path.startsWith("/_admin/") ? UNCACHED : {};
        const others = { ...uncached, ...(path !== ROUTES.live.path && NOT_LIVE) };
        expect([state, headers, wrongHeaders(response, others)]).toEqual([state, headers, []]);
      }
    }
  });
});

describe("an error", () => {
  const json = { method: "POST", headers: { "content-type": "application/json" } };

  it.each([
    ["an unknown address", 404, "/nowhere", {}],
    ["a method that a route does not have", 404, "/healthz", { method: "DELETE" }],
    ["a body that is no JSON", 400, "/slack/events", { ...json, body: "{" }],
    ["a wrong content type", 415, "/slack/events", { method: "POST", body: "hello" }],
    ["a body that is too large", 413, "/slack/events", { ...json, body: "x".repeat(2 ** 20 + 1) }],
    [
      "another site's change",
      403,
      "/_admin/x",
      { method: "POST", headers: { "sec-fetch-site": "cross-site" } },
    ],
    ["another site's look", 403, "/debug/processes", { headers: { "sec-fetch-site": "cross-site" } }],
  ])("for %s has the headers too", async (_name, status, path, init) => {
    const response = await edgeFixture().app.request(`${HOST}${path}`, init);
    expect(response.status).toBe(status);
    expect(wrongHeaders(response, UNCACHED)).toEqual([]);
  });

  it.each(Object.values<Route>(ROUTES).filter(({ method }) => method === "GET"))(
    "of $path is the same for HEAD, without the body",
    async ({ path }) => {
      for (const headers of [{}, BROWSER]) {
        const response = await edgeFixture().app.request(`${HOST}${path}`, { method: "HEAD", headers });
        const got = await edgeFixture().app.request(`${HOST}${path}`, { headers });
        expect([response.status, await response.text()]).toEqual([got.status, ""]);
        await got.body?.cancel();
      }
    },
  );

  it("that nobody foresaw has the headers too, and does not tell its text", async () => {
    const status = {
      get since(): never {
        throw new Error("the words of an error");
      },
    };
    for (const path of ["/", "/_admin/", "/debug/processes"]) {
      const { app } = edgeFixture({ status, adminToken: ADMIN_TOKEN });
      const response = await app.request(`${HOST}${path}`, { headers: BEARER });
      expect(response.status).toBe(500);
      expect(wrongHeaders(response, UNCACHED)).toEqual([]);
      expect(await response.text()).not.toContain("the words of an error");
    }
  });

  it("of a limit has the headers too", async () => {
    const { app } = edgeFixture();
    for (let visits = 0; visits < PER_MINUTE.visits; visits += 1) await app.request(`${HOST}/`);
    const response = await app.request(`${HOST}/`);
    expect(response.status).toBe(429);
    expect(wrongHeaders(response, UNCACHED)).toEqual([]);
  });

  it("of the identity gateway's settings has the headers too", async () => {
    for (const path of ["/_admin/", "/debug/processes"]) {
      const response = await edgeFixture({ audience: null }).app.request(`${HOST}${path}`);
      expect(response.status).toBe(500);
      expect(wrongHeaders(response, UNCACHED)).toEqual([]);
    }
  });
});

it("a redirect to the identity gateway is not kept, nor is what lies behind it", async () => {
  const { jwk, sign } = await createSigner();
  const { app } = edgeFixture({ jwk });
  const redirect = await app.request(`${HOST}/_admin/`, { headers: BROWSER });
  expect(redirect.status).toBe(302);
  const page = await app.request(`${HOST}/_admin/`, { headers: { "cf-access-jwt-assertion": await sign() } });
  expect(page.status).toBe(200);
  for (const response of [redirect, page]) {
    expect(wrongHeaders(response, UNCACHED)).toEqual([]);
  }
});

it.each([
  ["/_admin/%0d%0aset-cookie:%20a=b", "/_admin/%0d%0aset-cookie:%20a=b"],
  ["/_admin/%2e%2e/%2e%2e/etc/passwd?x", undefined],
  ["/_admin//evil.example/", "/_admin//evil.example/"],
  ["/_admin/%2f%2fevil.example", "/_admin/%2f%2fevil.example"],
  ["/debug/%5c%5cevil.example", "/debug/%5c%5cevil.example"],
  ["/debug/..//evil.example/", undefined],
  ["/debug/x?next=https://evil.example", "/debug/x?next=https://evil.example"],
])("%s sends a browser nowhere but to this site's sign-in", async (path, next) => {
  const { app } = edgeFixture({ adminToken: ADMIN_TOKEN });
  const response = await app.request(`${HOST}${path}`, { headers: BROWSER });
  expect(response.headers.get("set-cookie")).toBeNull();
  const answer = [response.status, response.headers.get("location")];
  const signIn = next === undefined ? [404, null] : [302, `/_admin/sign-in?next=${encodeURIComponent(next)}`];
  expect(answer).toEqual(signIn);
});
