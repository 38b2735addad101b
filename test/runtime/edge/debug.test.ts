import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { VERSION } from "../../../runtime/contract/names.ts";
import { EDGE_BUNDLE, edgeFixture, signedIn } from "../../support/edge.ts";

type Fixture = Parameters<typeof edgeFixture>[0];

const operator = signedIn();
const LINES = Array.from({ length: 300 }, (_, index) => `line ${index}`);
const processes = () =>
  Response.json({
    processes: [
      { name: "gateway", pid: 7, logs: LINES },
      { name: "supervisor", pid: 1 },
    ],
  });
const WITH_LOGS = { answers: { "/processes?logs=true": processes } };

async function ask(path: string, options: Fixture = {}) {
  const { jwk, headers } = await operator;
  const edge = edgeFixture({ jwk, ...options });
  return { ...edge, response: await edge.app.request(path, { headers }) };
}

describe("GET /debug/logs", () => {
  it.each([
    ["", 200],
    ["?lines=3", 3],
    ["?lines=500", 300],
  ])("gives the last lines: %j", async (query, count) => {
    const { response } = await ask(`/debug/logs${query}`, { ...WITH_LOGS, state: "crash-looping" });
    expect(await response.json()).toEqual({ state: "crash-looping", lines: LINES.slice(-count) });
  });

  it("gives the lines after those that a reader has, and what asks for the next ones", async () => {
    const logs = () => Response.json({ processes: [{ name: "gateway", logs: ["new"], nextLog: 8 }] });
    const answers = { "/processes?logs=true&after=7": logs };
    const { response } = await ask("/debug/logs?after=7", { answers });
    expect(await response.json()).toEqual({ state: "ready", lines: ["new"], next: 8 });
    const { response: wrong } = await ask("/debug/logs?after=-1", WITH_LOGS);
    expect(await wrong.json()).toMatchObject({ status: 400, code: "query_invalid" });
  });

  it("tells that a container which runs does not answer", async () => {
    const answers = { "/processes?logs=true": () => new Response(null, { status: 500 }) };
    const { response } = await ask("/debug/logs", { answers });
    expect(await response.json()).toMatchObject({ status: 503, code: "gateway_unavailable" });
  });

  it("wakes no stopped container", async () => {
    const { response, requests } = await ask("/debug/logs", { state: "stopped" });
    expect(await response.json()).toEqual({ state: "stopped", lines: [] });
    expect(requests).toEqual([]);
  });

  it("tells all that is wrong with the query at once", async () => {
    const { response } = await ask("/debug/logs?lines=0&since=1h", WITH_LOGS);
    expect(response.status).toBe(400);
    const { code, detail } = (await response.json()) as Record<string, string>;
    expect(code).toBe("query_invalid");
    expect(detail).toContain("lines: not a whole number from 1 to 500");
    expect(detail).toContain('Unrecognized key: "since"');
  });
});

describe("GET /debug/version", () => {
  it("tells the versions and bundles of edge and container, and wakes nothing", async () => {
    const status = { version: "9.9.9", bundle: "fedcba9876543210" };
    const { response, requests } = await ask("/debug/version", { status });
    const runtime = expect.stringMatching(/Node\.js|Cloudflare-Workers/);
    const edge = { version: VERSION, bundle: EDGE_BUNDLE, runtime };
    expect(await response.json()).toEqual({ ...edge, gateway: "9.9.9", container: status.bundle });
    const stopped = await ask("/debug/version", { state: "stopped" });
    expect(await stopped.response.json()).toEqual(edge);
    expect([...requests, ...stopped.requests]).toEqual([]);
  });
});

describe("the attestation of the secrets", () => {
  const KEY = "a".repeat(64);
  const environment = {
    ATTESTATION_KEY: KEY,
    SLACK_BOT_TOKEN: "xoxb-the-slack-token",
    ADMIN_TOKEN: "the-admin-token",
    OPENAI_API_KEY: "",
    LOG_LEVEL: "debug",
  };
  const attested = async (changes: object = {}) => {
    const { response } = await ask("/debug/version", { environment: { ...environment, ...changes } });
    return (await response.json()) as { attestation: string; secrets: Record<string, string> };
  };

  it("is on /debug/version for each secret that is set, and on /readyz for all together", async () => {
    const { attestation, secrets } = await attested();
    expect(Object.keys(secrets)).toEqual(["ADMIN_TOKEN", "SLACK_BOT_TOKEN"]);
    const { response } = await ask("/readyz", { environment });
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ bundle: EDGE_BUNDLE, attestation });
    expect(text).not.toContain(secrets["SLACK_BOT_TOKEN"]);
  });

  it("is the HMAC of name and value, cut short: nothing that could be reversed or guessed without the key", async () => {
    const { secrets } = await attested();
    const mac = createHmac("sha256", KEY).update("SLACK_BOT_TOKEN\0xoxb-the-slack-token").digest("hex");
    expect(secrets["SLACK_BOT_TOKEN"]).toBe(mac.slice(0, 16));
  });

  it("moves with a value, a key, and a secret that goes; never with what is no secret", async () => {
    const before = await attested();
    const rotated = await attested({ SLACK_BOT_TOKEN: "xoxb-another-token" });
    expect(rotated.attestation).not.toBe(before.attestation);
    expect(rotated.secrets["SLACK_BOT_TOKEN"]).not.toBe(before.secrets["SLACK_BOT_TOKEN"]);
    expect(rotated.secrets["ADMIN_TOKEN"]).toBe(before.secrets["ADMIN_TOKEN"]);
    for (const changes of [{ ADMIN_TOKEN: "" }, { ATTESTATION_KEY: "b".repeat(64) }]) {
      expect((await attested(changes)).attestation).not.toBe(before.attestation);
    }
    expect(await attested({ LOG_LEVEL: "info" })).toEqual(before);
  });
});

it.each(["/debug/logs", "/debug/version"])("%s refuses what another site's page asks for", async (path) => {
  const { jwk, headers } = await operator;
  const { app } = edgeFixture({ jwk });
  const response = await app.request(path, { headers: { ...headers, "sec-fetch-site": "cross-site" } });
  expect(await response.json()).toMatchObject({ status: 403, code: "cross_site" });
});

it("asks a person whom the identity gateway led here whether to continue, and does nothing before", async () => {
  const { jwk, headers } = await operator;
  const { app, requests, wakes } = edgeFixture({ jwk, state: "stopped" });
  const visit = {
    ...headers,
    accept: "text/html",
    "sec-fetch-site": "cross-site",
    "sec-fetch-dest": "document",
  };
  const address = "/debug/cli?cmd=devices+approve+%3Cb%3E";
  const asked = await app.request(address, { headers: visit });
  expect([asked.status, asked.headers.get("cache-control")]).toEqual([200, "no-store"]);
  const page = await asked.text();
  expect(page).toContain('<form method="get" action="/debug/cli">');
  expect(page).toContain('<input type="hidden" name="cmd" value="devices approve &lt;b&gt;"/>');
  expect([...requests, ...wakes]).toEqual([]);
  const embedded = await app.request(address, { headers: { ...visit, "sec-fetch-dest": "iframe" } });
  expect(embedded.status).toBe(403);
});

it("starts a stopped container for an operator: by /debug/processes and by a page that a browser opens", async () => {
  const { jwk, headers } = await operator;
  const { app, wakes } = edgeFixture({ jwk, state: "stopped", grantsWake: false });
  await app.request("/debug/processes", { headers });
  for (const path of ["/_admin/", "/_admin/devices", "/_admin/config", "/_admin/logs"]) {
    await app.request(path, { headers: { ...headers, accept: "text/html" } });
  }
  expect(wakes).toEqual(["operator", "operator", "operator", "operator", "operator"]);
  // Requests without a person behind them must not keep it awake for ever.
  await app.request("/_admin/logs?follow=1", { headers: { ...headers, accept: "text/html" } });
  await app.request("/_admin/api/metrics", { headers });
  expect(wakes).toHaveLength(5);
});

it("leads from /_admin to the page, and a stranger to the sign-in", async () => {
  const { jwk, headers } = await operator;
  const { app } = edgeFixture({ jwk });
  const led = await app.request("/_admin", { headers });
  expect([led.status, led.headers.get("location")]).toEqual([308, "/_admin/"]);
  expect((await app.request("/_admin")).status).toBe(403);
});
