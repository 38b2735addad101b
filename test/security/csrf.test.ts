import { describe, expect, it } from "vitest";
import { createSigner, edgeFixture } from "../support/edge.ts";

const HOST = "https://steward.example.com";
const ADMIN_TOKEN = "the-admin-token-0123456789";
const JSON_TYPE = { "content-type": "application/json" };

const { jwk, sign } = await createSigner();

/** Asks with a valid identity, so that only where the request comes from is in question. */
async function change(method: string, path: string, headers: Record<string, string>, host = HOST) {
  const identity = { "cf-access-jwt-assertion": await sign() };
  const response = await edgeFixture({ jwk }).app.request(`${host}${path}`, {
    method,
    headers: { ...identity, ...headers },
  });
  const { code } = (await response.json().catch(() => ({}))) as { code?: string };
  return { status: response.status, code };
}

const REFUSED = { status: 403, code: "cross_site" };
/** No route has the address: the request got as far as that. */
const PASSED = { status: 404, code: "not_found" };

describe.each(["POST", "PUT", "PATCH", "DELETE"])("%s below /_admin/", (method) => {
  it.each([
    ["another site's page", { "sec-fetch-site": "cross-site" }, REFUSED],
    ["a neighbouring host's page", { "sec-fetch-site": "same-site" }, REFUSED],
    ["a word that no browser says", { "sec-fetch-site": "" }, REFUSED],
    ["another site that names this origin", { "sec-fetch-site": "cross-site", origin: HOST }, REFUSED],
    ["its own page", { "sec-fetch-site": "same-origin" }, PASSED],
    ["its own page behind a proxy", { "sec-fetch-site": "same-origin", origin: "https://x.example" }, PASSED],
    ["a person without any page", { "sec-fetch-site": "none" }, PASSED],
    ["its own page in an older browser", { origin: HOST }, PASSED],
    ["another site's in an older browser", { origin: "https://evil.example" }, REFUSED],
    ["another port's in an older browser", { origin: `${HOST}:8443` }, REFUSED],
    ["the plain page in an older browser", { origin: "http://steward.example.com" }, REFUSED],
    ["a page without an origin", { origin: "null" }, REFUSED],
    ["an old browser, which names neither site nor origin", { cookie: "session=one" }, REFUSED],
    ["a program", {}, PASSED],
  ])("by %s", async (_name, headers, expected) => {
    for (const path of ["/_admin/nothing", "/_admin/api/nothing"]) {
      expect(await change(method, path, { ...JSON_TYPE, ...headers })).toEqual(expected);
    }
  });

  it("to the API is JSON, which no form of another site can send", async () => {
    const own = { "sec-fetch-site": "same-origin" };
    const unsupported = { status: 415, code: "media_type_unsupported" };
    for (const type of [
      "application/x-www-form-urlencoded",
      "text/plain",
      "multipart/form-data",
      "text/json",
    ]) {
      expect(await change(method, "/_admin/api/nothing", { ...own, "content-type": type })).toEqual(
        unsupported,
      );
    }
    expect(await change(method, "/_admin/api/nothing", own)).toEqual(unsupported);
    expect(await change(method, "/_admin/nothing", { ...own, "content-type": "text/plain" })).toEqual(PASSED);
  });
});

it.each([
  ["cross-site", 403],
  ["same-site", 403],
  ["same-origin", 200],
  ["none", 200],
])("a debug route asked by a page that is %s answers %i", async (site, status) => {
  expect((await change("GET", "/debug/container-config", { "sec-fetch-site": site })).status).toBe(status);
});

it("reading is not held up", async () => {
  const { status } = await change("GET", "/_admin/", { "sec-fetch-site": "cross-site" });
  expect(status).toBe(200);
});

it.each(["sign-in", "sign-out"])("another site cannot %s a browser", async (action) => {
  const { app } = edgeFixture({ adminToken: ADMIN_TOKEN });
  const ask = (headers: Record<string, string>) =>
    app.request(`${HOST}/_admin/${action}`, { method: "POST", body: `token=${ADMIN_TOKEN}`, headers });
  const refused = await ask({ "sec-fetch-site": "cross-site" });
  expect([refused.status, refused.headers.get("set-cookie")]).toEqual([403, null]);
  expect((await ask({ "sec-fetch-site": "same-origin" })).status).toBe(303);
});

/** Reads, and changes of every kind, as `/debug/cli` takes them. */
const READS = ["status", "pairing list", "sessions show slack:T1:C1", "workspace show AGENTS.md"];
const CHANGES = [
  "devices approve 3f1c",
  "devices reject 3f1c",
  "devices revoke 3f1c",
  "pairing approve slack ABCDEFGH",
  "pairing reject slack ABCDEFGH",
  "pairing revoke slack U1",
  "models test anthropic/claude-sonnet-4-5",
  "sessions reset slack:T1:C1",
  "sessions delete slack:T1:C1",
  "workspace write AGENTS.md none -- text",
  "workspace remove AGENTS.md none",
  "schedules add --to slack:C1 --every 1h --text hello",
  "schedules edit 1 --every 2h",
  "schedules pause 1",
  "schedules resume 1",
  "schedules run 1",
  "schedules remove 1",
  "backup create",
  "doctor --fix",
];
const COOKIE = { cookie: "CF_Authorization=one" };
/** The headers with which browsers request an address that another origin's page contains. On plain http none of them names the page's site. */
const SENT_BY_BROWSERS: [string, Record<string, string>][] = [
  [
    "an image",
    { ...COOKIE, accept: "image/avif,image/webp,*/*;q=0.8", referer: "http://sibling.example.com/" },
  ],
  ["a script", { ...COOKIE, accept: "*/*", referer: "http://sibling.example.com/" }],
  ["a style sheet", { ...COOKIE, accept: "text/css,*/*;q=0.1" }],
  ["a fetch without CORS", { ...COOKIE, accept: "*/*" }],
  ["a link", { ...COOKIE, accept: "text/html,*/*;q=0.8" }],
  ["a link with a referrer of this origin", { ...COOKIE, accept: "text/html", referer: `${HOST}/_admin/` }],
  ["a form by GET", { ...COOKIE, accept: "text/html", origin: "http://sibling.example.com" }],
  ["a browser behind a gateway that keeps its cookie", { accept: "*/*" }],
  ["a word that no browser says", { ...COOKIE, "sec-fetch-site": "" }],
  ["an image over https", { ...COOKIE, "sec-fetch-site": "same-site", "sec-fetch-dest": "image" }],
  [
    "a link over https",
    { ...COOKIE, "sec-fetch-site": "cross-site", "sec-fetch-dest": "document", accept: "text/html" },
  ],
];

describe.each(["http://steward.example.com", HOST])("a command by GET at %s", (host) => {
  const ask = async (line: string, headers: Record<string, string>, claims = {}) => {
    const { app, requests, wakes } = edgeFixture({ jwk });
    const identity = { "cf-access-jwt-assertion": await sign(claims) };
    const answer = await app.request(`${host}/debug/cli?cmd=${encodeURIComponent(line)}`, {
      headers: { ...identity, ...headers },
    });
    return { answer, asked: [...requests, ...wakes] };
  };

  it.each(SENT_BY_BROWSERS)("changes nothing for %s", async (_name, headers) => {
    for (const line of CHANGES) {
      const { answer, asked } = await ask(line, headers);
      const shown = headers["accept"]?.includes("text/html") ?? false;
      expect([line, answer.status, asked]).toEqual([line, shown ? 200 : 403, []]);
      expect(await answer.text()).toMatch(
        shown ? /Continue only if you meant/ : /change_unproven|cross_site/,
      );
    }
  });

  it.each([
    ["a service token", {}, { email: undefined, common_name: "pipeline.access" }],
    ["its own page", { "sec-fetch-site": "same-origin" }, {}],
    ["an address that was typed", { "sec-fetch-site": "none" }, {}],
  ])("changes what %s asks for", async (_name, headers, claims) => {
    for (const line of CHANGES) expect((await ask(line, headers, claims)).answer.status).toBe(200);
  });

  it("reads for everybody who is signed in", async () => {
    for (const line of READS) expect((await ask(line, COOKIE)).answer.status).toBe(200);
  });
});

it("ADMIN_TOKEN as a Bearer is a program's, its session a browser's", async () => {
  const { app } = edgeFixture({ adminToken: ADMIN_TOKEN });
  const ask = (headers: Record<string, string>) =>
    app.request(`${HOST}/debug/cli?cmd=pairing+approve+slack+ABCDEFGH`, { headers });
  const signedIn = await app.request(`${HOST}/_admin/sign-in`, {
    method: "POST",
    body: `token=${ADMIN_TOKEN}`,
  });
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const refused = await ask({ cookie });
  expect([refused.status, await refused.json()]).toEqual([
    403,
    expect.objectContaining({ code: "change_unproven" }),
  ]);
  const authorization = `Bearer ${ADMIN_TOKEN}`;
  expect((await ask({ authorization })).status).toBe(200);
  expect((await ask({ authorization, cookie })).status).toBe(200);
});
