import { describe, expect, it } from "vitest";
import type { LedgerQuery, ReplayResult } from "../../../runtime/edge/ports.ts";
import { edgeFixture, signedIn } from "../../support/edge.ts";

const HOST = "https://steward.example.com";
const operator = signedIn();

async function edge(result: ReplayResult = "replayed") {
  const { jwk, headers } = await operator;
  const queries: LedgerQuery[] = [];
  const replayed: string[] = [];
  const fixture = edgeFixture({
    jwk,
    state: "stopped",
    ledger: {
      list: async (query) => {
        queries.push(query);
        return { entries: [], next: 7 };
      },
      replay: async (key) => {
        replayed.push(key);
        return result;
      },
    },
  });
  const list = (query = "") => fixture.app.request(`${HOST}/debug/ledger${query}`, { headers });
  const own = { ...headers, "content-type": "application/json", origin: HOST };
  const replay = (changed: Record<string, string | undefined> = {}, body = '{"key":"slack:Ev1"}') => {
    const entries = Object.entries({ ...own, ...changed }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as [string, string]],
    );
    return fixture.app.request(`${HOST}/_admin/api/ledger/replay`, {
      method: "POST",
      headers: Object.fromEntries(entries),
      body,
    });
  };
  return { ...fixture, queries, replayed, list, replay };
}

describe("GET /debug/ledger", () => {
  it("gives counts and the page that was asked for, and wakes nothing", async () => {
    const { list, queries, requests, wakes } = await edge();
    expect(await (await list()).json()).toEqual({
      counts: { waiting: 1, delivering: 2, answered: 3, ignored: 0, failed: 4 },
      entries: [],
      next: 7,
    });
    await list("?state=failed&platform=slack&limit=10&before=99");
    expect(queries).toEqual([{ limit: 50 }, { state: "failed", platform: "slack", limit: 10, before: 99 }]);
    expect([...requests, ...wakes]).toEqual([]);
  });

  it("names the people and places of its entries", async () => {
    const { jwk, headers } = await operator;
    const time = "2026-11-18T10:00:00.000Z";
    const person = {
      key: "slack:U1",
      kind: "person",
      platform: "slack",
      id: "U1",
      hue: 30,
      firstSeenAt: time,
      lastSeenAt: time,
    } as const;
    const entry = {
      key: "slack:Ev1",
      platform: "slack",
      conversation: "slack:T1:C1",
      state: "answered",
      attempts: 1,
      receivedAt: time,
      sender: "slack:U1",
      place: "slack:C1",
    } as const;
    const { app } = edgeFixture({
      jwk,
      named: [
        { ...person, name: "Ada" },
        { ...person, key: "slack:C1" },
      ],
      ledger: { list: async () => ({ entries: [entry] }) },
    });
    const response = await app.request(`${HOST}/debug/ledger`, { headers });
    expect(await response.json()).toMatchObject({ entries: [entry], names: { "slack:U1": "Ada" } });
  });

  it("tells all that is wrong with the query at once", async () => {
    const { list, queries } = await edge();
    const response = await list("?state=lost&platform=irc&limit=9999&before=x&foo=1");
    expect(response.status).toBe(400);
    const { code, detail } = (await response.json()) as Record<string, string>;
    expect(code).toBe("query_invalid");
    for (const name of ["state", "platform", "limit", "before", '"foo"']) expect(detail).toContain(name);
    expect(queries).toEqual([]);
  });
});

describe("POST /_admin/api/ledger/replay", () => {
  it("delivers an event again that was given up", async () => {
    const { replay, replayed, logged } = await edge();
    const response = await replay();
    expect(logged.join()).toMatch(/replays an event.*operator@example\.com.*slack:Ev1/);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ key: "slack:Ev1", state: "waiting" });
    expect(replayed).toEqual(["slack:Ev1"]);
  });

  it("tells an unknown event from one that was not given up", async () => {
    const unknown = await (await edge("unknown")).replay();
    expect(await unknown.json()).toMatchObject({ status: 404, code: "ledger_entry_unknown" });
    const open = await (await edge("not_replayable")).replay();
    expect(await open.json()).toMatchObject({ status: 409, code: "ledger_entry_not_replayable" });
  });

  it.each(["[]", "{", "{}", '{"key":""}', '{"key":1}', '{"key":"slack:Ev1","all":true}'])(
    "refuses the body %s",
    async (body) => {
      const { replay, replayed } = await edge();
      expect(await (await replay({}, body)).json()).toMatchObject({ status: 400, code: "body_invalid" });
      expect(replayed).toEqual([]);
    },
  );

  it.each<[string, Record<string, string | undefined>, string, number]>([
    ["without an identity", { "cf-access-jwt-assertion": undefined }, "identity_required", 403],
    ["from another site", { "sec-fetch-site": "cross-site" }, "cross_site", 403],
    ["from a neighbouring host", { "sec-fetch-site": "same-site" }, "cross_site", 403],
    ["with another origin", { origin: "https://evil.example" }, "cross_site", 403],
    ["with an opaque origin", { origin: "null" }, "cross_site", 403],
    ["as a form", { "content-type": "text/plain" }, "media_type_unsupported", 415],
    ["without a type", { "content-type": undefined }, "media_type_unsupported", 415],
  ])("refuses a change %s", async (_name, changed, code, status) => {
    const { replay, replayed } = await edge();
    const response = await replay(changed);
    expect(await response.json()).toMatchObject({ status, code });
    expect(replayed).toEqual([]);
  });

  it.each<Record<string, string | undefined>>([
    { "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "none", origin: undefined },
    { "content-type": "application/json; charset=utf-8" },
  ])("takes a change from its own pages and from a person: %j", async (changed) => {
    expect((await (await edge()).replay(changed)).status).toBe(200);
  });
});
