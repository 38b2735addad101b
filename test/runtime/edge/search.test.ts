import { describe, expect, it } from "vitest";
import type { NameEntry } from "../../../runtime/edge/ports.ts";
import { edgeFixture, NOW, signedIn } from "../../support/edge.ts";

const HOST = "https://steward.example.com";
const operator = signedIn();
const at = new Date(NOW).toISOString();
const entry = (key: string, kind: NameEntry["kind"], name?: string): NameEntry => ({
  key,
  kind,
  platform: "slack",
  id: key.slice(key.indexOf(":") + 1),
  ...(name !== undefined && { name }),
  hue: 1,
  firstSeenAt: at,
  lastSeenAt: at,
});
const NAMED = [
  entry("slack:U1", "person", "Ann <b>"),
  entry("slack:C1", "channel", "announcements"),
  entry("slack:C9", "channel"),
];
const SESSIONS = {
  sessions: ["slack:C1", "slack:C2"].map((conversation) => ({ conversation, messages: 1, lastAt: at })),
};
const SCHEDULES = {
  schedules: [{ text: "Stand up, all!" }, { prompt: "What is new?" }],
};

async function edge(state: "ready" | "stopped" = "ready") {
  const { jwk, headers } = await operator;
  const fixture = edgeFixture({
    jwk,
    state,
    named: NAMED,
    remembered: [
      ["sessions", { at, text: JSON.stringify(SESSIONS) }],
      ["schedules", { at, text: JSON.stringify(SCHEDULES) }],
    ],
  });
  const ask = (q: string, accept = "application/json") =>
    fixture.app.request(`${HOST}/_admin/search?${new URLSearchParams({ q })}`, {
      headers: { ...headers, accept },
    });
  return {
    ...fixture,
    ask,
    find: async (q: string) => (await (await ask(q)).json()) as [string, string, string][],
  };
}

describe("search", () => {
  it("finds pages and actions by any of their words, and all of them without a word", async () => {
    const { find } = await edge();
    expect(await find("sched")).toContainEqual(["page", "Schedules", "/_admin/schedules"]);
    expect(await find("schedule ADD")).toContainEqual(["action", "Add a schedule", "/_admin/schedules#add"]);
    const all = (await find(" ")).map(([, title]) => title);
    for (const title of [
      "Overview",
      "Backups",
      "Back up now",
      "Restart the gateway",
      "Edit the configuration",
    ])
      expect(all).toContain(title);
  });

  it("finds people, places and conversations by name, each with its address", async () => {
    const found = await (await edge()).find("ann");
    expect(found).toContainEqual(["person", "Ann <b>", "/_admin/ledger?sender=slack%3AU1"]);
    expect(found).toContainEqual(["channel", "announcements", "/_admin/ledger?place=slack%3AC1"]);
    expect(found).toContainEqual([
      "conversation",
      "announcements",
      "/_admin/sessions/detail?conversation=slack%3AC1",
    ]);
    expect(found).toContainEqual(["channel", "C9", "/_admin/ledger?place=slack%3AC9"]);
  });

  it("finds schedules by what they say or ask", async () => {
    const { find } = await edge();
    const link = "/_admin/schedules?q=Stand+up%2C+all%21";
    expect(await find("stand up")).toContainEqual(["schedule", "Stand up, all!", link]);
    expect(await find("new?")).toContainEqual([
      "schedule",
      "What is new?",
      "/_admin/schedules?q=What+is+new%3F",
    ]);
    expect((await find("up")).filter(([kind]) => kind === "schedule")).toHaveLength(1);
    const action = "Approve or revoke people and browsers";
    expect(await find("revoke")).toContainEqual(["action", action, "/_admin/devices"]);
  });

  it("is a page with the same results without scripts, in which a name is a text", async () => {
    const page = await (await (await edge()).ask('ann "', "text/html")).text();
    expect(page).toContain('value="ann &quot;"');
    expect(page).toMatch(/href="\/_admin\/ledger\?sender=slack%3AU1">\s*<bdi>Ann &lt;b&gt;<\/bdi>/);
    expect(page).toContain('class="button find" href="/_admin/search"');
  });

  it("wakes nothing and asks no container, and refuses a long text", async () => {
    const { ask, requests, wakes } = await edge("stopped");
    expect((await ask("x".repeat(100))).status).toBe(200);
    expect((await ask("x".repeat(101))).status).toBe(400);
    expect([...requests, ...wakes]).toEqual([]);
  });
});
