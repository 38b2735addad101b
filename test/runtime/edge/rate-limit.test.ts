import { describe, expect, it } from "vitest";
import { StewardError } from "../../../runtime/contract/errors.ts";
import { PER_MINUTE, RateLimit } from "../../../runtime/edge/rate-limit.ts";
import { createDiscordKey } from "../../support/discord.ts";
import { createSigner, edgeFixture, NOW, slackEvent, slackHeaders } from "../../support/edge.ts";

const ADMIN_TOKEN = "the-admin-token-0123456789";
const JSON_HEADERS = { "content-type": "application/json" };
const MINUTE = 60_000;

type Fixture = Parameters<typeof edgeFixture>[0];

/** An edge that tells clients apart as on a platform, with a clock that is moved by hand. */
function edge(fixture: Fixture = {}) {
  let now = NOW;
  const parts = edgeFixture({ ...fixture, clock: () => now });
  const ask = (path: string, init: RequestInit = {}, clientAddress: string | undefined = "192.0.2.1") =>
    parts.app.request(`https://steward.example.com${path}`, init, { clientAddress });
  return { ...parts, ask, pass: (ms: number) => void (now += ms) };
}

/** How often each status was answered. */
async function statuses(times: number, ask: (index: number) => Response | Promise<Response>) {
  const counts: Record<number, number> = {};
  for (let index = 0; index < times; index += 1) {
    const { status } = await ask(index);
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

describe("a client's visits", () => {
  it("are limited, with Retry-After, and given back as time goes", async () => {
    const { ask, pass } = edge();
    expect(await statuses(PER_MINUTE.visits + 5, () => ask("/"))).toEqual({ 200: PER_MINUTE.visits, 429: 5 });
    const refused = await ask("/");
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await refused.json()).toMatchObject({ status: 429, code: "rate_limited" });
    pass(MINUTE / 2);
    expect(await statuses(PER_MINUTE.visits, () => ask("/"))).toEqual({ 200: 150, 429: 150 });
    // A clock that was set back gives nothing back.
    pass(-MINUTE);
    expect((await ask("/")).status).toBe(429);
  });

  it.each([
    ["an IPv4 address", "192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"],
    ["the first half of an IPv6 address", "2001:db8:0:1::1", "2001:DB8::1:ffff:0:0:9", "2001:db8:0:2::1"],
    ["a short IPv6 address", "::1", "0:0:0:0::2", "1::"],
    ["all whose address is not known", undefined, "", "192.0.2.1"],
  ])("are told apart by %s", async (_name, one, same, another) => {
    const { app } = edge();
    const visit = (clientAddress: string | undefined) => app.request("/", {}, { clientAddress });
    await statuses(PER_MINUTE.visits, () => visit(one));
    expect((await visit(same)).status).toBe(429);
    expect((await visit(another)).status).toBe(200);
  });

  it("are not told apart by what a request says of itself", async () => {
    const { ask } = edge();
    const counts = await statuses(PER_MINUTE.visits + 5, (index) =>
      ask("/", {
        headers: { "x-forwarded-for": `192.0.2.${index}`, "cf-connecting-ip": `192.0.2.${index}` },
      }),
    );
    expect(counts).toEqual({ 200: PER_MINUTE.visits, 429: 5 });
  });

  it.each(["/healthz", "/readyz"])("to %s are not limited", async (path) => {
    const { ask } = edge();
    expect(await statuses(1_000, () => ask(path))).toEqual({ 200: 1_000 });
  });
});

describe("a webhook", () => {
  const body = JSON.stringify(slackEvent());
  const forged = { method: "POST", body, headers: JSON_HEADERS };

  it("takes verified events from where a flood of forged ones comes, and asks for no state any more", async () => {
    const { ask, admitted, statusCalls } = edge({ state: "stopped" });
    expect(await statuses(PER_MINUTE.refusedWebhooks, () => ask("/slack/events", forged))).toEqual({
      503: PER_MINUTE.refusedWebhooks,
    });
    const asked = statusCalls();
    const refused = await ask("/slack/events", forged);
    // While the gateway is down nothing else is answered: whoever tests the route takes it for a refusal.
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "10"]);
    expect(await statuses(100, () => ask("/slack/events", forged))).toEqual({ 503: 100 });
    expect(statusCalls()).toBe(asked);
    const verified = { ...forged, headers: await slackHeaders(body) };
    expect((await ask("/slack/events", verified)).status).toBe(503);
    expect(admitted).toHaveLength(1);
    // Another client has a limit of its own.
    expect((await ask("/slack/events", forged, "192.0.2.2")).status).toBe(503);
  });

  it("limits a flood of forged events while the gateway is up", async () => {
    const { ask } = edge();
    expect(await statuses(PER_MINUTE.refusedWebhooks, () => ask("/slack/events", forged))).toEqual({
      403: PER_MINUTE.refusedWebhooks,
    });
    const refused = await ask("/slack/events", forged);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
  });

  it("never refuses a busy workspace", async () => {
    const { ask } = edge();
    const verified = { ...forged, headers: await slackHeaders(body) };
    const times = PER_MINUTE.refusedWebhooks + 100;
    expect(await statuses(times, () => ask("/slack/events", verified))).toEqual({ 200: times });
    const challenge = { ...forged, body: JSON.stringify({ type: "url_verification", challenge: "abc" }) };
    expect(await statuses(times, () => ask("/slack/events", challenge))).toEqual({ 200: times });
    // Nor does it use up what forged ones may.
    expect((await ask("/slack/events", forged)).status).toBe(403);
  });

  it("does not count a verified event that could not be recorded", async () => {
    const { ask } = edge({ ledgerError: new StewardError("disk_full") });
    const verified = { ...forged, headers: await slackHeaders(body) };
    const times = PER_MINUTE.refusedWebhooks + 100;
    expect(await statuses(times, () => ask("/slack/events", verified))).toEqual({ 503: times });
  });

  it("counts what is malformed or too large, on all routes together", async () => {
    const { ask } = edge();
    const text = { method: "POST", body: "hello", headers: { "content-type": "text/plain" } };
    await statuses(PER_MINUTE.refusedWebhooks - 1, () => ask("/telegram-webhook", text));
    const large = { ...forged, headers: { ...JSON_HEADERS, "content-length": String(2 ** 21) } };
    expect((await ask("/slack/events", large)).status).toBe(413);
    expect((await ask("/slack/events", large)).status).toBe(429);
    expect((await ask("/telegram-webhook", text)).status).toBe(429);
  });

  it("counts a wrong signature of Discord, which is answered with 401", async () => {
    const { publicKey, headers } = await createDiscordKey();
    const { ask } = edge({ discordPublicKey: publicKey });
    const ping = JSON.stringify({ id: "1", type: 1 });
    const wrong = { method: "POST", body: ping, headers: await headers(`${ping} `) };
    const path = "/discord/interactions";
    expect(await statuses(PER_MINUTE.refusedWebhooks + 1, () => ask(path, wrong))).toEqual({
      401: PER_MINUTE.refusedWebhooks,
      429: 1,
    });
    expect((await ask(path, { ...wrong, headers: await headers(ping) })).status).toBe(200);
  });
});

it("an identity's requests are limited, from wherever and whatever it asks; another's are not", async () => {
  const { jwk, sign } = await createSigner();
  const { ask } = edge({ jwk });
  const as = async (email: string) => ({ headers: { "cf-access-jwt-assertion": await sign({ email }) } });
  const [one, another] = [await as("one@example.com"), await as("another@example.com")];
  const counts = await statuses(PER_MINUTE.identity + 5, (index) =>
    ask(index % 2 === 0 ? "/debug/processes" : "/_admin/nothing", one, `192.0.2.${index % 200}`),
  );
  expect(counts).toEqual({ 200: PER_MINUTE.identity / 2, 404: PER_MINUTE.identity / 2, 429: 5 });
  expect((await ask("/_admin/", another)).status).toBe(200);
});

describe("wrong Bearers", () => {
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

  it("are limited for each client, and the right one passes meanwhile", async () => {
    const { ask, pass } = edge({ adminToken: ADMIN_TOKEN });
    const guess = () => ask("/debug/processes", bearer("wrong"));
    expect(await statuses(PER_MINUTE.wrongTokens + 5, guess)).toEqual({
      403: PER_MINUTE.wrongTokens,
      429: 5,
    });
    expect((await ask("/debug/processes", bearer(ADMIN_TOKEN))).status).toBe(200);
    expect((await guess()).headers.get("retry-after")).toBe("2");
    expect((await ask("/debug/processes", bearer("wrong"), "192.0.2.2")).status).toBe(403);
    pass(2_000);
    expect((await guess()).status).toBe(403);
  });

  it("are counted on webhooks that want an identity too", async () => {
    const { ask } = edge({ adminToken: ADMIN_TOKEN, publicWebhooks: false });
    const guess = { ...bearer("wrong"), method: "POST", body: "{}" };
    await statuses(PER_MINUTE.wrongTokens, () => ask("/slack/events", guess));
    expect((await ask("/debug/processes", bearer("wrong"))).status).toBe(429);
    expect((await ask("/debug/processes", bearer(ADMIN_TOKEN))).status).toBe(200);
  });
});

it("remembers a bounded number of callers, the ones that were seen last", () => {
  const limit = new RateLimit({ perMinute: 1, clock: () => NOW });
  limit.take("first");
  limit.take("kept");
  for (let index = 0; index < 5_000 - 2; index += 1) limit.take(`caller ${index}`);
  expect(limit.take("kept")).toBe(60);
  limit.take("one more");
  expect(limit.take("kept")).toBe(60);
  expect(limit.take("first")).toBe(0);
});
