import { expect, it } from "vitest";
import { reason } from "../../../runtime/contract/errors.ts";
import type { NameEntry } from "../../../runtime/edge/ports.ts";
import { chosenTenant } from "../../../runtime/edge/admin/tenants.tsx";
import type { Tenant, TenantQuery, Tenants } from "../../../runtime/edge/tenants/ports.ts";
import { edgeFixture, signedIn } from "../../support/edge.ts";

const HOST = "https://steward.example.com";
const COUNTS = { waiting: 1, delivering: 1, answered: 40, ignored: 0, failed: 0 };
const SEEN = { firstSeenAt: "2026-11-18T11:00:00.000Z", lastSeenAt: "2026-11-18T11:59:00.000Z" };
const REPORT = { counts: COUNTS, usedAt: "2026-11-18T11:59:00.000Z" };
const CHATS: Tenant[] = [
  { id: "slack-C1", ...SEEN, report: { running: false, ...REPORT, problem: reason("sandboxes_full") } },
  { id: "telegram--1001", ...SEEN, report: { running: true, ...REPORT } },
  { id: "discord-7", ...SEEN },
];
const operator = signedIn();

async function page(
  path: string,
  given: { chats?: Tenant[] | undefined; tenant?: string; failing?: string[]; named?: NameEntry[] } = {
    chats: CHATS,
  },
) {
  const { jwk, headers } = await operator;
  const queries: TenantQuery[] = [];
  const { chats, tenant, failing = [], named = [] } = given;
  const tenants: Tenants | undefined = chats && {
    totals: async () => ({ chats: chats.length, running: 1, failing: 1, counts: COUNTS }),
    knows: async () => true,
    renewal: async () => ({ begun: 3, answering: 1, failing }),
    tenants: async (query) => {
      queries.push(query);
      return chats.slice(0, query.limit);
    },
  };
  const fixture = edgeFixture({
    jwk,
    state: "stopped",
    named,
    ...(tenants && { tenants }),
    ...(tenant && { tenant }),
  });
  const ask = (to: string, init: RequestInit = {}) =>
    fixture.app.request(`${HOST}${to}`, { ...init, headers: { ...headers, origin: HOST, ...init.headers } });
  const response = await ask(path);
  return { ...fixture, ask, queries, response, text: await response.text() };
}

it("shows the chats with their states, each with a way to its pages", async () => {
  const { text, queries } = await page("/_admin/chats?after=slack-B");
  expect(queries).toEqual([{ limit: 501, after: "slack-B" }]);
  expect(text).toMatch(
    /Slack<\/span><bdi>C1<\/bdi>[^]*No answer[^]*The maximum number of containers \(steward:maxSandboxes\)/,
  );
  expect(text).toMatch(/Telegram<\/span><bdi>-1001<\/bdi>[^]*Awake/);
  expect(text).toMatch(/Discord<\/span><bdi>7<\/bdi>[^]*Asleep/);
  expect(text).toContain('name="chat" value="telegram--1001"');
  expect(text).not.toContain("More</a>");
});

it("orders the chats by a column, and names them as the directory does", async () => {
  const named = [
    { key: "discord:7", kind: "channel", platform: "discord", id: "7", name: "Engines", hue: 1, ...SEEN },
  ];
  const orderOf = ({ text }: { text: string }) =>
    [...text.matchAll(/<bdi>(C1|-1001|Engines)</g)].map(([, name]) => name);
  const given = { chats: CHATS, named: named as NameEntry[] };
  expect(orderOf(await page("/_admin/chats", given))).toEqual(["C1", "-1001", "Engines"]);
  expect(orderOf(await page("/_admin/chats?sort=-answered", given)).at(-1)).toBe("Engines");
  const byState = await page("/_admin/chats?sort=state", given);
  expect(orderOf(byState)).toEqual(["Engines", "-1001", "C1"]);
  expect(byState.text).toContain('aria-sort="ascending"><a href="/_admin/chats?sort=-state">State');
});

it("reads a long list in parts", async () => {
  const chats = Array.from({ length: 501 }, (_, at): Tenant => ({ id: `slack-C${at}`, ...SEEN }));
  const { text } = await page("/_admin/chats", { chats });
  expect(text).toContain('href="/_admin/chats?after=slack-C499"');
  expect(text).not.toContain("C500");
});

it("says so where one sandbox serves every chat, and has no entry in the navigation", async () => {
  const { text } = await page("/_admin/chats", {});
  expect(text).toContain("One sandbox serves every chat");
  expect(text).not.toContain('href="/_admin/chats"');
});

it("is degraded while a chat gets no answer, although the deployment's own sandbox sleeps", async () => {
  const { text } = await page("/_admin/");
  expect(text).toMatch(/class="badge warn"[^>]*>Degraded/);
  expect(text).toContain("1 of 3 chats gets no answer");
  expect(text).toContain("Browsers and the deployment");
});

it("says how far an update has come, and which chat holds it up", async () => {
  const under = await page("/_admin/chats");
  expect(under.text).toContain("1 of 3 updated chats answer with the new version.");
  expect(under.text).toContain("The others follow.");
  const stopped = await page("/_admin/chats", { chats: CHATS, failing: ["slack-C1"] });
  expect(stopped.text).toContain("The other chats keep their containers until slack-C1 answers.");
});

const NAVIGATION = { "sec-fetch-dest": "document", "sec-fetch-site": "none" };

it("a page that is opened for a chat chooses it, so that its buttons are about that chat too", async () => {
  const { ask } = await page("/_admin/");
  const opened = await ask("/_admin/restart?chat=slack-C1&x=1", { headers: NAVIGATION });
  expect([opened.status, opened.headers.get("location")]).toEqual([303, "/_admin/restart?x=1"]);
  expect(opened.headers.get("set-cookie")).toContain("steward-chat=slack-C1; Path=/; HttpOnly");
  const ended = await ask("/_admin/restart?chat=", { headers: NAVIGATION });
  expect(ended.headers.get("set-cookie")).toContain("steward-chat=; ");
});

it("another site's link chooses no chat", async () => {
  const { ask } = await page("/_admin/");
  const headers = { ...NAVIGATION, "sec-fetch-site": "cross-site" };
  const opened = await ask("/_admin/restart?chat=slack-C1", { headers });
  expect([opened.status, opened.headers.get("location")]).toEqual([303, "/_admin/chats"]);
  expect(opened.headers.get("set-cookie")).toBeNull();
});

it("a change that names its chat leads to a page of that chat", async () => {
  const { ask } = await page("/_admin/");
  const saved = await ask("/_admin/restart?chat=slack-C1", { method: "POST" });
  expect([saved.status, saved.headers.get("location")]).toEqual([
    303,
    expect.stringMatching(/[?&]chat=slack-C1$/),
  ]);
});

it("names the chat that its pages show", async () => {
  const { text } = await page("/_admin/", { chats: CHATS, tenant: "slack-C1" });
  expect(text).toMatch(/<a href="\/_admin\/chats">slack-C1<\/a>/);
  expect(text).not.toContain("gets no answer");
});

it("keeps the chosen chat in a cookie for operators alone", async () => {
  const { ask, app } = await page("/_admin/chats");
  const choose = (chat: string) =>
    ask("/_admin/chats", {
      method: "POST",
      body: `chat=${chat}`,
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
  const chosen = await choose("slack-C1");
  expect([chosen.status, chosen.headers.get("location")]).toEqual([303, "/_admin/"]);
  const cookie = chosen.headers.get("set-cookie") ?? "";
  expect(cookie).toBe("steward-chat=slack-C1; Path=/; HttpOnly; Secure; SameSite=Strict");
  expect((await choose("")).headers.get("set-cookie")).toContain("steward-chat=;");
  expect((await choose("../x")).status).toBe(400);
  expect((await app.request(`${HOST}/_admin/chats`, { method: "POST" })).status).toBe(403);
});

it.each([
  ["/_admin/", "steward-chat=slack-C1", "slack-C1"],
  ["/debug/ledger?chat=telegram-7", "steward-chat=slack-C1", "telegram-7"],
  ["/debug/ledger?chat=", "steward-chat=slack-C1", undefined],
  ["/_admin/", "steward-chat=steward", undefined],
  ["/slack/events", "steward-chat=slack-C1", undefined],
  ["/chat?chat=slack-C1", "", undefined],
])("%s with the cookie %s is about %s", (path, cookie, tenant) => {
  expect(chosenTenant(new Request(`${HOST}${path}`, { headers: { cookie } }))).toBe(tenant);
});

it("sums up all chats in the metrics, and leaves them out of a chat's own", async () => {
  const { text } = await page("/metrics");
  expect(text).toContain('steward_chats{state="failing"} 1');
  expect(text).toContain('steward_chat_ledger_entries{state="answered"} 40');
  const own = await page("/metrics", { chats: CHATS, tenant: "slack-C1" });
  expect(own.text).not.toContain("steward_chats");
});
