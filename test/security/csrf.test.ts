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
