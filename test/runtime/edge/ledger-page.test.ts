import { describe, expect, it } from "vitest";
import type {
  LedgerDetails,
  LedgerEntry,
  LedgerQuery,
  NameEntry,
  ReplayResult,
} from "../../../runtime/edge/ports.ts";
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

const SEEN = { firstSeenAt: ENTRIES[0]?.receivedAt ?? "", lastSeenAt: ENTRIES[0]?.receivedAt ?? "" };
const NAMED: NameEntry[] = [
  {
    key: "telegram:42",
    kind: "person",
    platform: "telegram",
    id: "42",
    name: "<i>Ada</i> مرحبا",
    hue: 30,
    ...SEEN,
  },
  {
    key: "telegram:-1009",
    kind: "group",
    platform: "telegram",
    id: "-1009",
    name: "Engines",
    hue: 60,
    ...SEEN,
  },
];
const iso = (after: number): string => new Date(NOW + after).toISOString();
const DETAILS: LedgerDetails = {
  entry: {
    key: "telegram:9",
    platform: "telegram",
    conversation: "telegram:-1009:7",
    state: "failed",
    attempts: 2,
    receivedAt: iso(0),
    settledAt: iso(90_000),
    note: "model_auth_failed",
    sender: "telegram:42",
    place: "telegram:-1009",
    timeline: { received: iso(0), recorded: iso(20), attempted: iso(60_000), settled: iso(90_000) },
  },
  attempts: [
    { at: iso(1_000), endedAt: iso(2_000), note: "503 gateway_unavailable" },
    { at: iso(60_000), endedAt: iso(90_000), note: "model_auth_failed" },
  ],
};

async function edge(result: ReplayResult = "replayed") {
  const { jwk, headers } = await operator;
  const queries: LedgerQuery[] = [];
  const replayed: string[] = [];
  const recorded: object[] = [];
  const fixture = edgeFixture({
    jwk,
    state: "stopped",
    named: NAMED,
    activity: { record: async (entry) => void recorded.push(entry) },
    ledger: {
      details: async (key) => (key === DETAILS.entry.key ? DETAILS : undefined),
      excerpt: async (key) => (key === DETAILS.entry.key ? "hello <b>you</b>" : undefined),
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
  const showText = (key: string) =>
    fixture.app.request(`${HOST}/_admin/ledger/event`, {
      method: "POST",
      headers: { ...headers, origin: HOST, "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ key }).toString(),
    });
  return { ...fixture, queries, replayed, recorded, look, replay, showText };
}

describe("GET /_admin/ledger", () => {
  it("shows counts and entries, and wakes nothing", async () => {
    const { look, queries, requests, wakes } = await edge();
    const page = await (await look()).text();
    expect(page).toContain('<a href="/_admin/ledger?state=failed">Failed <b>4</b></a>');
    for (const shown of ["slack:Ev&lt;1&gt;", "model_auth_failed", "2 days ago", "2026-11-22T08:00"]) {
      expect(page).toContain(shown);
    }
    expect(page).toMatch(/Ignored<\/span><span title="[^"]*">the group is not on the list<\/span>/);
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
    expect(page).toContain('<input type="hidden" name="state" value="failed"/>');
    expect(page).toContain('<a href="/_admin/ledger?platform=slack" aria-current="true">Failed <b>4</b></a>');
    expect(page).toMatch(/<option value="slack" selected="">/);
  });

  it("orders the events by a column, and keeps the order in its form and links", async () => {
    const { look, queries } = await edge();
    const page = await (await look("?sort=-person&state=failed")).text();
    expect(queries).toEqual([{ state: "failed", sort: "-person", limit: 50 }]);
    expect(page).toMatch(/aria-sort="descending"><a href="[^"]*state=failed&amp;sort=person">Person/);
    expect(page).toContain('<input type="hidden" name="sort" value="-person"/>');
    expect(page).toMatch(/sort=-person&amp;before=7">Next page/);
  });

  it("takes what its form sends for all of them", async () => {
    const { look, queries } = await edge();
    expect((await look("?state=&platform=")).status).toBe(200);
    expect(queries).toEqual([{ limit: 50 }]);
  });

  it.each(["?state=lost", "?platform=irc", "?before=x", "?limit=5", "?sort=attempts", "?done=hello"])(
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

describe("people and places of events", () => {
  const withPeople = async (differs: Partial<LedgerEntry> = {}) => {
    const { jwk, headers } = await operator;
    const entries = [{ ...DETAILS.entry, ...differs }];
    const { app } = edgeFixture({ jwk, named: NAMED, ledger: { list: async () => ({ entries }) } });
    return (await app.request(`${HOST}/_admin/ledger?sender=telegram:42`, { headers })).text();
  };

  it("have their names, with the id on hover, and are ways to their other events", async () => {
    const page = await withPeople();
    expect(page).toContain('<span class="person" title="telegram:42">');
    expect(page).toContain("<bdi>&lt;i&gt;Ada&lt;/i&gt; مرحبا</bdi>");
    expect(page).toContain('href="/_admin/ledger?place=telegram%3A-1009"><bdi>Engines</bdi>');
    expect(page).not.toContain("<i>Ada");
    expect(page).toMatch(/aria-current="true" title="telegram:42"><bdi>/);
  });

  it("are shown by their ids as long as nobody has named them, and a direct message as such", async () => {
    const page = await withPeople({ sender: "telegram:77", place: "telegram:42" });
    expect(page).toContain("<bdi>77</bdi>");
    expect(page).toContain("<bdi>Direct message</bdi>");
  });
});

describe("GET /_admin/ledger/event", () => {
  it("shows the ids, the course and the attempts of one event, and not its text; wakes nothing", async () => {
    const { look, requests, wakes, recorded } = await edge();
    const page = await (await look("/event?key=telegram:9")).text();
    for (const shown of ["telegram:-1009:7", "after 90.0 s", "503 gateway_unavailable", "Engines", "Replay"])
      expect(page).toContain(shown);
    expect(page).not.toContain("First word");
    expect(page).not.toContain("hello");
    expect([...requests, ...wakes, ...recorded]).toEqual([]);
  });

  it("is not found for an event that is gone, and refuses what is no key", async () => {
    const { look } = await edge();
    expect((await look("/event?key=telegram:10")).status).toBe(404);
    expect((await look("/event?key=x")).status).toBe(400);
  });
});

describe("POST /_admin/ledger/event", () => {
  it("shows the beginning of the text, and records who has read it", async () => {
    const { showText, recorded } = await edge();
    const response = await showText("telegram:9");
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringContaining('<blockquote dir="auto">hello &lt;b&gt;you&lt;/b&gt;</blockquote>'),
    ]);
    expect(recorded).toEqual([{ by: "operator@example.com", action: "read", detail: "telegram:9" }]);
  });

  it("records nothing for an event without text", async () => {
    const { showText, recorded } = await edge();
    expect((await showText("telegram:10")).status).toBe(404);
    expect(recorded).toEqual([]);
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
    expect(logged.join()).toMatch(/replays an event.*operator@example\.com.*slack:Ev1/);
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

it("the overview lists a group without answers until one is answered there", async () => {
  const { jwk, headers } = await operator;
  const silent: LedgerEntry = { ...DETAILS.entry, key: "telegram:8", state: "ignored", group: "-1009" };
  const answeredIn = async (place: string, settledAt: string): Promise<string> => {
    const answered: LedgerEntry = { ...DETAILS.entry, state: "answered", place, settledAt };
    const list = async ({ state }: LedgerQuery) => ({ entries: [state === "ignored" ? silent : answered] });
    const { app } = edgeFixture({ jwk, ledger: { list } });
    return (await app.request(`${HOST}/_admin/`, { headers })).text();
  };
  expect(await answeredIn("telegram:-1009", iso(-1_000))).toContain("Groups without answers");
  expect(await answeredIn("telegram:-1010", iso(1_000))).toContain("Groups without answers");
  expect(await answeredIn("telegram:-1009", iso(1_000))).not.toContain("Groups without answers");
});
