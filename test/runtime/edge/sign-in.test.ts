import { describe, expect, it } from "vitest";
import { edgeFixture, NOW } from "../../support/edge.ts";

const ADMIN_TOKEN = "the-admin-token-0123456789";
const HOST = "https://steward.example.com";
const BROWSER = { accept: "text/html,*/*" };
const MINUTE = 60_000;

/** A host whose clock stands still until it is moved. */
function host(adminToken = ADMIN_TOKEN) {
  let now = NOW;
  const fixture = edgeFixture({ adminToken, clock: () => now });
  const get = (path: string, headers: Record<string, string> = {}) =>
    fixture.app.request(`${HOST}${path}`, { headers });
  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    fixture.app.request(`${HOST}${path}`, {
      method: "POST",
      body: new URLSearchParams(form).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    });
  const signIn = (token = adminToken, next?: string, headers = BROWSER) =>
    post("/_admin/sign-in", { token, ...(next !== undefined && { next }) }, headers);
  const session = async () => cookieOf(await signIn());
  return { ...fixture, get, post, signIn, session, pass: (ms: number) => void (now += ms) };
}

/** What a browser sends back of a response's cookie. */
const cookieOf = (response: Response): string => response.headers.get("set-cookie")?.split(";")[0] ?? "";

describe("signing in", () => {
  it("leads a browser from the closed page to the form and back", async () => {
    const { get, signIn } = host();
    const closed = await get("/debug/processes?logs=true", BROWSER);
    expect([closed.status, closed.headers.get("location")]).toEqual([
      302,
      "/_admin/sign-in?next=%2Fdebug%2Fprocesses%3Flogs%3Dtrue",
    ]);
    const form = await (await get(closed.headers.get("location") ?? "", BROWSER)).text();
    expect(form).toContain('<label for="token">');
    expect(form).toMatch(/<input\s+id="token"\s+name="token"\s+type="password"/);
    expect(form).toContain('name="next" value="/debug/processes?logs=true"');
    expect(form).not.toContain("<script");
    const opened = await signIn(ADMIN_TOKEN, "/debug/processes");
    expect([opened.status, opened.headers.get("location")]).toEqual([303, "/debug/processes"]);
    const page = await get("/_admin/", { cookie: `a=b; ${cookieOf(opened)}` });
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("Sign out");
  });

  it("answers a program with the problem as before, and takes the token as a Bearer", async () => {
    const { get } = host();
    const refused = await get("/_admin/");
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([
      403,
      "identity_required",
    ]);
    expect((await get("/_admin/", { authorization: `Bearer ${ADMIN_TOKEN}` })).status).toBe(200);
    expect((await get("/_admin/", { authorization: `Bearer ${ADMIN_TOKEN}x` })).status).toBe(403);
  });

  it("keeps the session in a cookie for this site alone, Secure where the browser is on https", async () => {
    const { signIn, app } = host();
    const cookie = (await signIn()).headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/^steward_session=\d{13}\.[\w-]{43}; /);
    const attributes = cookie.split("; ").slice(1).sort();
    expect(attributes).toEqual(["HttpOnly", "Max-Age=43200", "Path=/", "SameSite=Strict", "Secure"]);
    const plain = (origin: string) =>
      app.request("http://steward.lan/_admin/sign-in", {
        method: "POST",
        body: `token=${ADMIN_TOKEN}`,
        headers: { origin, "sec-fetch-site": "same-origin" },
      });
    const over = async (origin: string) => (await plain(origin)).headers.get("set-cookie") ?? "";
    expect(await over("http://steward.lan")).not.toContain("Secure");
    // Behind a proxy that ends TLS.
    expect(await over("https://steward.lan")).toContain("Secure");
  });

  it("takes no changed, expired or foreign session", async () => {
    const { get, session, pass } = host();
    const cookie = await session();
    const [name = "", value = ""] = cookie.split("=");
    const [expiry = "", signature = ""] = value.split(".");
    const changed = `${name}=${Number(expiry) + 1}.${signature}`;
    const cut = `${name}=${expiry}.${signature.slice(1)}A`;
    const foreign = await host("another-admin-token-0123456789").session();
    for (const wrong of [changed, cut, foreign, `${name}=`, `${name}=${ADMIN_TOKEN}`]) {
      expect([wrong, (await get("/_admin/", { cookie: wrong })).status]).toEqual([wrong, 403]);
    }
    pass(12 * 60 * MINUTE - 1);
    expect((await get("/_admin/", { cookie })).status).toBe(200);
    pass(1);
    expect((await get("/_admin/", { cookie })).status).toBe(403);
  });

  it("says the token nowhere: not in a cookie, an address, an answer or a log", async () => {
    const { get, signIn, logged } = host();
    const said = [await signIn(), await signIn(`${ADMIN_TOKEN}x`), await get("/_admin/sign-in")];
    for (const response of said) {
      expect(JSON.stringify([...response.headers]) + (await response.text())).not.toContain(ADMIN_TOKEN);
    }
    expect(logged).toEqual([
      '{"message":"somebody signed in with the admin token","client":"unknown"}',
      '{"message":"a wrong admin token was given","client":"unknown"}',
    ]);
  });

  it("signs out", async () => {
    const { post } = host();
    const response = await post("/_admin/sign-out", {});
    expect([response.status, response.headers.get("location")]).toEqual([303, "/_admin/sign-in"]);
    expect(response.headers.get("set-cookie")).toMatch(/^steward_session=; Max-Age=0; Path=\/;/);
  });
});

describe("wrong tokens", () => {
  it("are told in the form to a browser and as a problem to a program", async () => {
    const page = await host().signIn("wrong", "/debug/processes");
    expect(page.status).toBe(403);
    const text = await page.text();
    expect(text).toMatch(/role="alert"[^]*not the admin token/);
    expect(text).toContain('value="/debug/processes"');
    const problem = await host().signIn("wrong", undefined, { accept: "*/*" });
    expect(await problem.json()).toMatchObject({ status: 403, code: "sign_in_refused" });
    expect(problem.headers.get("set-cookie")).toBeNull();
  });

  it("wait beyond 30 a minute, and the right one passes meanwhile", async () => {
    const { get, signIn, session, pass } = host();
    const cookie = await session();
    const wrong = await Promise.all(Array.from({ length: 35 }, () => signIn("wrong")));
    expect(wrong.map(({ status }) => status)).toEqual([
      ...Array<number>(30).fill(403),
      ...Array<number>(5).fill(429),
    ]);
    const limited = await signIn("wrong");
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "2"]);
    expect(await limited.text()).toContain("Try again in 2 s.");
    expect((await signIn()).status).toBe(303);
    expect((await get("/_admin/", { cookie })).status).toBe(200);
    expect((await get("/_admin/", { authorization: `Bearer ${ADMIN_TOKEN}` })).status).toBe(200);
    pass(2_000);
    expect((await signIn("wrong")).status).toBe(403);
  });

  it("are not counted where the field was left empty", async () => {
    const { signIn } = host();
    for (let count = 0; count < 35; count += 1) expect((await signIn("")).status).toBe(403);
  });

  it("do not fill the memory", async () => {
    const { post } = host();
    const response = await post("/_admin/sign-in", { token: "x".repeat(1024 * 1024) });
    expect(response.status).toBe(413);
  });
});

describe("next", () => {
  it.each([
    ["/debug/processes", "/debug/processes"],
    ["/_admin/ledger", "/_admin/ledger"],
    ["/_admin/../debug/container-config", "/debug/container-config"],
    ["/_admin/sign-in?next=/_admin/sign-in", "/_admin/"],
    ["https://evil.example/", "/_admin/"],
    ["//evil.example/", "/_admin/"],
    ["/\\evil.example/", "/_admin/"],
    ["\\\\evil.example/", "/_admin/"],
    ["/.//evil.example/", "/_admin/"],
    ["/x/..//evil.example/", "/_admin/"],
    ["/%2e//evil.example/", "/_admin/"],
    ["/\t/evil.example/", "/_admin/"],
    [" //evil.example/", "/_admin/"],
    ["javascript:alert(1)", "/_admin/"],
    ["@evil.example/", "/_admin/"],
    ["/_admin/\r\nset-cookie: a=b", "/_admin/"],
    ["/_admin/\u0000", "/_admin/"],
    ["", "/_admin/"],
  ])("%j leads to %s", async (next, expected) => {
    const { get, signIn } = host();
    const response = await signIn(ADMIN_TOKEN, next);
    expect(response.headers.get("location")).toBe(expected);
    expect(response.headers.get("set-cookie")).not.toContain("a=b");
    const form = await (await get(`/_admin/sign-in?next=${encodeURIComponent(next)}`)).text();
    expect(form).toContain(`name="next" value="${expected}"`);
  });

  it("keeps its query, and runs what that says only once somebody continues", async () => {
    const { get, signIn, requests } = host();
    const asked = "/debug/cli?cmd=pairing+approve+slack+ABCDEFGH";
    const page = await signIn(ADMIN_TOKEN, asked);
    expect([page.status, page.headers.get("location")]).toEqual([200, null]);
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    const text = await page.text();
    expect(text).toContain('<form method="get" action="/debug/cli">');
    expect(text).toContain('<input type="hidden" name="cmd" value="pairing approve slack ABCDEFGH"/>');
    expect(requests).toEqual([]);
    const cookie = cookieOf(page);
    expect((await get(asked, { cookie, "sec-fetch-site": "same-origin" })).status).toBe(200);
  });

  it("is written into the page as text, never as markup", async () => {
    const form = await (await host().get(`/_admin/sign-in?next=${encodeURIComponent('/"><b>')}`)).text();
    expect(form).not.toContain("<b>");
  });
});

it("exists only where ADMIN_TOKEN stands in for an identity gateway", async () => {
  const { app } = edgeFixture();
  const page = await app.request(`${HOST}/_admin/sign-in`);
  expect(page.status).toBe(403);
  const post = await app.request(`${HOST}/_admin/sign-in`, { method: "POST", body: "token=" });
  expect(post.status).toBe(403);
  const nothing = await edgeFixture({ audience: null }).app.request(`${HOST}/_admin/sign-in`);
  expect(await nothing.json()).toMatchObject({ code: "access_not_configured" });
});
