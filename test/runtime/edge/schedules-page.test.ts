import { describe, expect, it } from "vitest";
import { edgeFixture, operationAnswers, signedIn } from "../../support/edge.ts";

const HOST = "https://steward.example.com";
const operator = signedIn();
const LISTED = {
  to: { platform: "slack", chat: "C1" },
  cron: "0 9 * * 1-5",
  text: "<b>Good morning</b>",
  nextAt: "2026-11-24T09:00:00.000Z",
  lastAt: null,
  lastOutcome: null,
};
const LIST = {
  schedules: [
    { id: "cli:1", source: "cli", ...LISTED },
    { id: "config:standup", source: "config", ...LISTED, text: undefined, prompt: "Ask for plans" },
  ],
};
const FIELDS = {
  platform: "slack",
  chat: "C9",
  kind: "cron",
  when: "0 9 * * 1-5",
  timezone: "Europe/Berlin",
  content: "prompt",
  message: "What is new?\nAnything?",
};

async function edge(
  answer: (operation: string) => object = () => LIST,
  state: "ready" | "stopped" = "ready",
) {
  const { jwk, headers } = await operator;
  const { answers, lines, asked } = operationAnswers((_, operation) => answer(operation));
  const fixture = edgeFixture({ jwk, state, answers });
  const look = (path = "/_admin/schedules") => fixture.app.request(`${HOST}${path}`, { headers });
  const post = (path: string, fields: Record<string, string>) =>
    fixture.app.request(`${HOST}/_admin/schedules/${path}`, {
      method: "POST",
      headers: { ...headers, origin: HOST, "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(fields).toString(),
    });
  return { ...fixture, lines, asked, look, post };
}

describe("GET /_admin/schedules", () => {
  it("lists what is scheduled, and removes only what the config does not hold", async () => {
    const page = await (await (await edge()).look()).text();
    expect(page).toContain("&lt;b&gt;Good morning&lt;/b&gt;");
    expect(page).toContain("2026-11-24 09:00:00 UTC");
    expect(page).toContain('aria-label="Remove cli:1"');
    expect(page).not.toContain('aria-label="Remove config:standup"');
  });

  it("shows how the last runs went", async () => {
    const run = { schedule: "cli:1", dueAt: "2026-11-23T09:00:00.000Z", count: 1 };
    const runs = [
      { ...run, state: "failed", note: "failed: <b>no such chat</b>" },
      { ...run, state: "missed", count: 3, note: "" },
    ];
    const page = await (
      await (await edge((name) => (name === "schedules history" ? { runs } : LIST))).look()
    ).text();
    expect(page).toMatch(/2026-11-23 09:00:00 UTC[\s\S]*badge bad">\s*failed[\s\S]*&lt;b&gt;no such chat/);
    expect(page).toMatch(/badge warn">\s*missed\s*<\/span\s*>\s*3 times/);
  });

  it("pauses, resumes and runs one, and records each", async () => {
    const off = { schedules: [{ ...LIST.schedules[0], nextAt: null }] };
    const { post, lines, look } = await edge((name) => (name === "schedules list" ? off : {}));
    for (const [verb, done] of [
      ["pause", "paused"],
      ["resume", "resumed"],
      ["run", "runs"],
    ] as const) {
      const answer = await post(verb, { id: "cli:1" });
      expect(answer.headers.get("location")).toBe(`/_admin/schedules?done=${done}`);
      expect(lines.at(-1)).toBe(`schedules ${verb} cli:1`);
      expect(await (await look("/_admin/activity")).text()).toContain(`${verb} cli:1`);
    }
    const page = await (await look()).text();
    expect(page).toContain('aria-label="Resume cli:1"');
    expect(page).not.toContain('aria-label="Pause cli:1"');
  });

  it("wakes nothing", async () => {
    const { look, lines, wakes } = await edge(undefined, "stopped");
    expect((await look()).status).toBe(200);
    expect([...lines, ...wakes]).toEqual([]);
  });
});

describe("the form", () => {
  it("adds a schedule by one command, and it is in the activity", async () => {
    const { post, asked, look } = await edge();
    const answer = await post("add", FIELDS);
    expect(answer.headers.get("location")).toBe("/_admin/schedules?done=scheduled");
    expect(asked[0]).toEqual([
      "schedules add",
      { to: "slack:C9", cron: "0 9 * * 1-5", timezone: "Europe/Berlin", prompt: "What is new?\nAnything?" },
    ]);
    expect(await (await look("/_admin/activity")).text()).toContain("added for slack:C9");
  });

  it("omits the time zone if none is given", async () => {
    const { post, asked } = await edge();
    await post("add", { ...FIELDS, kind: "every", when: "2h", content: "text" });
    expect(asked[0]).toEqual(["schedules add", { to: "slack:C9", every: "2h", text: FIELDS.message }]);
  });

  it("keeps the input of a refused form, and says why", async () => {
    const error = { code: "schedule_invalid", message: "cron: must be five fields" };
    const { post } = await edge((name) => (name === "schedules add" ? { error } : LIST));
    const answer = await post("add", { ...FIELDS, when: "daily" });
    expect(answer.status).toBe(400);
    const page = await answer.text();
    expect(page).toMatch(
      /name="when"[^>]*aria-invalid="true"[\s\S]*id="when-problem" class="mark">\s*It must be five fields\./,
    );
    expect(page).toContain('value="daily"');
    expect(page).toContain("What is new?\nAnything?</textarea");
    expect(page).toContain('<option value="prompt" selected="">');
  });

  it.each(["chat", "when", "message"])("asks for %s without asking the container", async (name) => {
    const { post, asked } = await edge();
    const answer = await post("add", { ...FIELDS, [name]: " " });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(
      new RegExp(`name="${name}"[^>]*aria-invalid="true"[\\s\\S]*class="mark"`),
    );
    expect(asked.filter(([name]) => name === "schedules add")).toEqual([]);
  });

  it("refuses another form", async () => {
    const { post } = await edge();
    for (const wrong of [{ platform: "irc" }, { kind: "never" }, { chat: "a\u0000" }, { extra: "1" }])
      expect((await post("add", { ...FIELDS, ...wrong })).status).toBe(400);
    expect((await post("remove", { id: "a b" })).status).toBe(400);
  });

  it("removes one", async () => {
    const { post, lines } = await edge();
    const answer = await post("remove", { id: "cli:1" });
    expect(answer.headers.get("location")).toBe("/_admin/schedules?done=unscheduled");
    expect(lines[0]).toBe("schedules remove cli:1");
  });
});
