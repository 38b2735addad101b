import { SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { AUDIENCE, createSigner, edgeFixture, TEAM_DOMAIN } from "../../support/edge.ts";

const ROUTES = [
  "/_admin/",
  "/debug/cli?cmd=status",
  "/debug/logs",
  "/debug/version",
  "/debug/processes",
  "/debug/container-config",
];
const HOST = "https://steward.example.com";

describe.each(ROUTES)("%s", (route) => {
  const ask = (app: ReturnType<typeof edgeFixture>["app"], headers: Record<string, string> = {}) =>
    app.request(`${HOST}${route}`, { headers });

  it("answers an identity in the header or in the cookie", async () => {
    const { jwk, sign } = await createSigner();
    const token = await sign();
    const { app } = edgeFixture({ jwk });
    expect((await ask(app, { "cf-access-jwt-assertion": token })).status).toBe(200);
    expect((await ask(app, { cookie: `a=b; CF_Authorization=${token}; c=d` })).status).toBe(200);
  });

  it("refuses an anonymous request with 403, and sends a browser to sign in", async () => {
    const { app } = edgeFixture();
    const refused = await ask(app);
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ code: "identity_required" });
    const browser = await ask(app, { accept: "text/html,*/*" });
    expect(browser.status).toBe(302);
    const login = new URL(browser.headers.get("location") ?? "");
    expect(login.origin + login.pathname).toBe(
      `https://${TEAM_DOMAIN}/cdn-cgi/access/login/steward.example.com`,
    );
    expect(Object.fromEntries(login.searchParams)).toEqual({
      kid: AUDIENCE,
      redirect_url: route,
    });
  });

  it("refuses a token of another audience, issuer or key, an expired and an unsigned one", async () => {
    const { jwk, sign } = await createSigner();
    const { sign: forge } = await createSigner();
    const tokens = {
      "another audience": await sign({ aud: "another" }),
      "another issuer": await sign({ iss: "https://evil.example" }),
      "another key": await forge(),
      expired: await sign({}, "-10m"),
      "issued in the future": await sign({}, "2h", { issuedAt: "1h" }),
      "a key that is not named": await sign({}, "1h", { named: false }),
      "no algorithm": `${btoa('{"alg":"none"}')}.${btoa(`{"aud":"${AUDIENCE}","iss":"https://${TEAM_DOMAIN}"}`)}.`,
      // Algorithm confusion: the public key used as a shared secret.
      symmetric: await new SignJWT({ email: "x@example.com" })
        .setProtectedHeader({ alg: "HS256", kid: "key-1" })
        .setIssuer(`https://${TEAM_DOMAIN}`)
        .setAudience(AUDIENCE)
        .setIssuedAt()
        .setExpirationTime("1h")
        .sign(new TextEncoder().encode(JSON.stringify(jwk))),
      rubbish: "rubbish",
    };
    for (const [name, token] of Object.entries(tokens)) {
      const response = await ask(edgeFixture({ jwk }).app, { "cf-access-jwt-assertion": token });
      expect([name, response.status]).toEqual([name, 403]);
      expect(await response.text()).not.toContain(token);
    }
  });

  it("names a missing setting, and fails closed", async () => {
    const audience = await ask(edgeFixture({ audience: null }).app);
    expect(audience.status).toBe(500);
    expect(await audience.json()).toMatchObject({
      detail: "EDGE_ACCESS_AUD is not configured",
      fix: "Set EDGE_ACCESS_AUD and EDGE_ACCESS_TEAM_DOMAIN, then deploy again. On a host without an identity gateway set ADMIN_TOKEN (steward:adminToken) instead.",
    });
    const domain = await ask(edgeFixture({ teamDomain: null }).app);
    expect(await domain.json()).toMatchObject({ detail: "EDGE_ACCESS_TEAM_DOMAIN is not configured" });
  });

  it.each(["steward.example.com", "https://team.example.com", "team.example.com/path", "localhost"])(
    "refuses %s as a team domain",
    async (teamDomain) => {
      const { jwk, sign } = await createSigner();
      const { app } = edgeFixture({ teamDomain, jwk });
      const response = await ask(app, { "cf-access-jwt-assertion": await sign() });
      expect(response.status).toBe(500);
      expect(await response.json()).toMatchObject({ code: "access_misconfigured" });
    },
  );
});

it("refuses a debug request that another site's page makes", async () => {
  const { jwk, sign } = await createSigner();
  const headers = { "cf-access-jwt-assertion": await sign(), "sec-fetch-site": "cross-site" };
  const response = await edgeFixture({ jwk }).app.request(`${HOST}/debug/processes`, { headers });
  expect(response.status).toBe(403);
  expect(await response.json()).toMatchObject({ code: "cross_site" });
});
