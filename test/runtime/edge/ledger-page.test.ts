import { describe, expect, it } from "vitest";
import type { LedgerEntry, LedgerQuery, ReplayResult } from "../../../runtime/edge/ports.ts";
import { edgeFixture, NOW, signedIn } from "../../support/edge.ts";

const HOST = "https://steward.example.com";
const operator = signedIn();
const ENTRIES: LedgerEntry[] = [
  {
    key: "slack:Ev<1>",
    platform: "slack",
    conversation: "slack:C1",
    state: "failed",
    attempts: 9,
    receivedAt: new Date(NOW - 2 * 86_400_000).toISOString(),
    settledAt: new Date(NOW - 86_400_000).toISOString(),
    note: "model_auth_failed",
  },
  {
    key: "telegram:7",
    platform: "telegram",
    conversation: "telegram:1",
    state: "waiting",
    attempts: 0,
    receivedAt: new Date(NOW - 60_000).toISOString(),
    nextAt: "2026-11-22T08:00:00.000Z",
  },
  {
    key: "telegram:8",
    platform: "telegram",
    conversation: "telegram:-1009",
    state: "ignored",
    attempts: 1,
    receivedAt: new Date(NOW - 60_000).toISOString(),
    settledAt: new Date(NOW - 60_000).toISOString(),
    note: "the group is not on the list",
    group: "-1009",
  },
];

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
        return { entries: ENTRIES, next: 7 };
      },
      replay: async (key) => {
        replayed.push(key);
        return result;
      },
    },
  });
  const look = (query = "") => fixture.app.request(`${HOST}/_admin/ledger${query}`, { headers });
  const replay = (body: string, origin = HOST) =>
    fixture.app.request(`${HOST}/_admin/ledger/replay`, {
      method: "POST",
      headers: { ...headers, origin, "content-type": "application/x-www-form-urlencoded" },
      body,
    });
  return { ...fixture, queries, replayed, look, replay };
}

describe("GET /_admin/ledger", () => {
  it("shows counts and entries, and wakes nothing", async () => {
    const { look, queries, requests, wakes } = await edge();
    const page = await (await look()).text();
    expect(page).toMatch(/href="\/_admin\/ledger\?state=failed">Failed<\/a><\/dt>\s*<dd>4<\/dd>/);
    for (const shown of ["slack:Ev&lt;1&gt;", "model_auth_failed", "2 days ago", "2026-11-22T08:00"]) {
      expect(page).toContain(shown);
    }
    expect(page).toMatch(/<td>\s*the group is not on the list/);
    expect(page).toContain("/_admin/config/allow-group?platform=telegram&amp;group=-1009");
    expect(page.split("Replay")).toHaveLength(5);
    expect(queries).toEqual([{ limit: 50 }]);
    expect([...requests, ...wakes]).toEqual([]);
  });

  it("keeps the filter in its form and on the way to older entries", async () => {
    const { look, queries } = await edge();
    const page = await (await look("?state=failed&platform=slack&before=99")).text();
    expect(queries).toEqual([{ state: "failed", platform: "slack", before: 99, limit: 50 }]);
    expect(page).toContain('href="/_admin/ledger?state=failed&amp;platform=slack&amp;before=7">Older');
    expect(page).toContain('href="/_admin/ledger?state=failed&amp;platform=slack">Newest');
    expect(page).toMatch(/<option value="failed" selected="">/);
    expect(page).toMatch(/<option value="slack" selected="">/);
  });

  it("takes what its form sends for all of them", async () => {
    const { look, queries } = await edge();
    expect((await look("?state=&platform=")).status).toBe(200);
    expect(queries).toEqual([{ limit: 50 }]);
  });

  it.each(["?state=lost", "?platform=irc", "?before=x", "?limit=5", "?done=hello"])(
    "refuses %s",
    async (query) => {
      const { look, queries } = await edge();
      expect(await (await look(query)).json()).toMatchObject({ status: 400, code: "query_invalid" });
      expect(queries).toEqual([]);
    },
  );

  it("offers to deliver again only what was given up", async () => {
    const page = await (await (await edge()).look()).text();
    expect(page).toContain('name="key" value="slack:Ev&lt;1&gt;"');
    expect(page).not.toContain('value="telegram:7"');
  });
});

describe("POST /_admin/ledger/replay", () => {
  it.each<[ReplayResult, string]>([
    ["replayed", "?done=replayed"],
    ["unknown", "?problem=ledger_entry_unknown"],
    ["not_replayable", "?problem=ledger_entry_not_replayable"],
  ])("goes back and tells what became of it: %s", async (result, query) => {
    const { replay, replayed, look } = await edge(result);
    const response = await replay("key=slack%3AEv%3C1%3E");
    const location = `/_admin/ledger${query}`;
    expect([response.status, response.headers.get("location")]).toEqual([303, location]);
    expect(replayed).toEqual(["slack:Ev<1>"]);
    expect((await look(query)).status).toBe(200);
  });

  it("keeps in the log who wanted it", async () => {
    const { replay, logged } = await edge();
    await replay("key=slack:Ev1");
    expect(logged.join()).toMatch(/delivered again.*operator@example\.com.*slack:Ev1/);
  });

  it.each(["", "key=", "key=Ev1", "key=slack:", "key=slack:a%0Ab", "key=slack:a&key=slack:b", "id=slack:a"])(
    "refuses the form %j",
    async (body) => {
      const { replay, replayed } = await edge();
      expect(await (await replay(body)).json()).toMatchObject({ status: 400, code: "form_invalid" });
      expect(replayed).toEqual([]);
    },
  );

  it("refuses another origin's form", async () => {
    const { replay, replayed } = await edge();
    expect((await replay("key=slack:Ev1", "https://evil.example")).status).toBe(403);
    expect(replayed).toEqual([]);
  });
});
