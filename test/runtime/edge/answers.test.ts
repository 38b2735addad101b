import { describe, expect, it } from "vitest";
import { edgeFixture, NOW, operationAnswers, signedIn } from "../../support/edge.ts";

const HOST = "https://steward.example.com";
const operator = signedIn();

/** The command line's answers of a container that runs. */
const ANSWERS: Record<string, unknown> = {
  "sessions list": {
    sessions: [{ conversation: "slack:T1:C7", messages: 3, lastAt: new Date(NOW).toISOString() }],
  },
  "workspace list": {
    files: [{ name: "skills/mail/SKILL.md", size: 4, changedAt: new Date(NOW).toISOString() }],
  },
  "models list": { models: [{ id: "anthropic/x-1" }] },
  "pairing list": {
    channels: [
      {
        channel: "slack",
        approved: ["U777"],
        requests: [{ id: "U9", code: "ABCDEFGH", createdAt: new Date(NOW).toISOString() }],
      },
    ],
  },
  "devices list": { pending: [], paired: [] },
  "schedules list": {
    schedules: [
      {
        id: "standup",
        source: "cli",
        to: { platform: "slack", chat: "C9" },
        cron: "0 9 * * 1-5",
        text: "Stand up!",
        nextAt: null,
        lastAt: null,
        lastOutcome: null,
      },
    ],
  },
};

/** Pages with something that only the container knows. */
const PAGES = [
  ["/_admin/", "slack:ABCDEFGH"],
  ["/_admin/devices", "U777"],
  ["/_admin/sessions", "T1:C7"],
  ["/_admin/schedules", "Stand up!"],
  ["/_admin/channels", "slack_token_expired"],
  ["/_admin/usage", "By model"],
  ["/_admin/workspace", "skills/mail/SKILL.md"],
  ["/_admin/models", "anthropic/x-1"],
  ["/_admin/config", "The file is valid"],
] as const;

async function edge(options: Parameters<typeof edgeFixture>[0] = {}) {
  const { jwk, headers } = await operator;
  const { answers } = operationAnswers((_, operation) => ANSWERS[operation] ?? {});
  const fixture = edgeFixture({ jwk, answers, ...options });
  const look = async (path: string, more: Record<string, string> = {}) =>
    (await fixture.app.request(`${HOST}${path}`, { headers: { ...headers, ...more } })).text();
  return { ...fixture, look, text: look };
}

describe("what the container said last", () => {
  it("is shown with its time while the container sleeps, on every page, and asks and wakes nothing", async () => {
    const awake = await edge();
    for (const [path, told] of PAGES) {
      const page = await awake.text(path);
      expect(page).toContain(told);
      expect(page).not.toContain("As of");
    }
    const remembered = [...awake.remembered];
    const asleep = await edge({ state: "stopped", remembered, clock: () => NOW + 3_600_000 });
    for (const [path, told] of PAGES) {
      const page = await asleep.text(path);
      expect(page).toContain(told);
      expect(page).toMatch(/As of <time[^>]*>2026-11-\d\d \d\d:\d\d:\d\d UTC<\/time>/);
      expect(page).toMatch(new RegExp(`name="page" value="${path}"[^>]*>[\\s\\S]*?Wake now`));
    }
    expect([...asleep.requests, ...asleep.wakes]).toEqual([]);
  });

  it("is no use of the container to ask for, and is not asked for again by a page that loads itself", async () => {
    let now = NOW;
    const { look, uses, requests } = await edge({ clock: () => now });
    for (const [path] of PAGES) await look(path);
    expect(uses).toEqual([]);
    const asked = requests.length;
    expect(asked).toBeGreaterThan(PAGES.length);

    const itself = { "steward-look": "1" };
    const commands = () => requests.filter(({ request }) => request.path === "/operations").length;
    const before = commands();
    for (const [path, told] of PAGES) expect(await look(path, itself)).toContain(told);
    expect(commands()).toBe(before);
    now += 16_000;
    for (const [path] of PAGES) await look(path, itself);
    // The overview asks who has access, for conversations and for schedules, and the pages of these take its answers.
    expect(commands()).toBe(2 * before - 5);
    expect(uses).toEqual([]);
  });

  it("is shown while the container starts, which would say that there is nothing", async () => {
    const remembered = [...(await fill("/_admin/sessions")).remembered];
    const starting = await edge({ state: "starting", remembered });
    const page = await starting.text("/_admin/sessions");
    expect(page).toMatch(/As of[\s\S]*T1:C7/);
    expect(page).not.toContain("Wake now");
    expect(starting.requests).toEqual([]);
  });

  it("is shown beside the reason where a container that runs does not answer", async () => {
    const remembered = [...(await fill("/_admin/sessions")).remembered];
    const failing = await edge({
      remembered,
      answers: { "/operations": () => new Response(null, { status: 500 }) },
    });
    const page = await failing.text("/_admin/sessions");
    expect(page).toContain("T1:C7");
    expect(page).toContain("gateway_unavailable");
    expect(page).toContain("As of");
  });

  it("is left out where it cannot be read", async () => {
    const at = new Date(NOW).toISOString();
    const page = await (
      await edge({ state: "stopped", remembered: [["sessions", { at, text: "{" }]] })
    ).text("/_admin/sessions");
    expect(page).toContain("once the container has run");
    expect(page).not.toContain("As of");
  });

  it("holds no list of access that is not whole", async () => {
    const half = await edge({
      answers: {
        "/operations": (request) =>
          request.body?.includes("devices")
            ? new Response(null, { status: 500 })
            : operationAnswers(() => ANSWERS["pairing list"]).answers["/operations"](request),
      },
    });
    expect(await half.text("/_admin/devices")).toContain("U777");
    expect([...half.remembered.keys()]).not.toContain("access");
  });
});

async function fill(path: string) {
  const awake = await edge();
  await awake.text(path);
  return awake;
}
