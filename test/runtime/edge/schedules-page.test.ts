import { describe, expect, it } from "vitest";
import type { NameEntry } from "../../../runtime/edge/ports.ts";
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
  chat: "slack:C9",
  kind: "cron",
  when: "0 9 * * 1-5",
  timezone: "Europe/Berlin",
  content: "prompt",
  message: "What is new?\nAnything?",
};

const GENERAL: NameEntry = {
  key: "slack:C1",
  kind: "channel",
  platform: "slack",
  id: "C1",
  name: "general",
  hue: 1,
  firstSeenAt: "2026-11-01T00:00:00.000Z",
  lastSeenAt: "2026-11-01T00:00:00.000Z",
};

async function edge(
  answer: (operation: string) => object = () => LIST,
  state: "ready" | "stopped" = "ready",
  named: NameEntry[] = [],
) {
  const { jwk, headers } = await operator;
  const { answers, lines, asked } = operationAnswers((_, operation) => answer(operation));
  const fixture = edgeFixture({ jwk, state, answers, named });
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

  it("says when in words, the next three runs in their time zone, and the chat by name", async () => {
    const row = {
      ...LIST.schedules[0],
      timezone: "Europe/Berlin",
      words: "At 09:00, Monday through Friday",
      next: [24, 25, 26].map((day) => ({
        at: `2026-11-${day}T08:00:00.000Z`,
        local: `Xxx ${day} Nov 2026, 09:00 CET`,
      })),
    };
    const { look } = await edge(() => ({ schedules: [row] }), "ready", [GENERAL]);
    const page = await (await look()).text();
    expect(page).toContain("At 09:00, Monday through Friday");
    expect(page).toContain("0 9 * * 1-5 Europe/Berlin");
    for (const { at, local } of row.next)
      expect(page).toMatch(new RegExp(`<time datetime="${at}"[^>]*08:00:00 UTC[^>]*>\\s*${local}\\s*</time`));
    expect(page).toMatch(/title="slack:C1"[\s\S]*?<bdi>\s*general\s*<\/bdi>/);
    expect(page).toMatch(/title="cli:1"/);
    expect(page).not.toMatch(/>\s*(?:cli:1|slack:C1|C1)\s*</);
  });

  it("puts the next ones on the overview, by name and in words", async () => {
    const row = { ...LIST.schedules[0], words: "At 09:00, Monday through Friday" };
    const { look } = await edge(
      () => ({ schedules: [row, { ...row, id: "cli:2", text: "Off", nextAt: null }] }),
      "ready",
      [GENERAL],
    );
    const page = await (await look("/_admin/")).text();
    const card = page.slice(page.indexOf("Next schedules"));
    expect(card).toMatch(/Good morning[\s\S]*<bdi>\s*general[\s\S]*At 09:00, Monday through Friday/);
    expect(card).not.toMatch(/>\s*Off\s*</);
  });

  it("has the schedules in pages, the next one due first", async () => {
    const rows = Array.from({ length: 25 }, (_, index) => ({
      ...LIST.schedules[0],
      id: `cli:${index}`,
      text: `Number ${index}.`,
      nextAt: index === 0 ? null : `2026-11-24T09:${59 - index}:00.000Z`,
    }));
    const { look } = await edge(() => ({ schedules: rows }));
    const shown = async (path?: string) =>
      [...(await (await look(path)).text()).matchAll(/Number (\d+)\./g)].map(([, index]) => Number(index));
    expect(await shown()).toEqual(Array.from({ length: 15 }, (_, index) => 24 - index));
    expect(await shown("/_admin/schedules?page=2")).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
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

  it("offers chats by name, and takes what is chosen as well as an id", async () => {
    const { look, post, asked } = await edge(undefined, "ready", [GENERAL]);
    const page = await (await look()).text();
    expect(page).toContain('<option value="general (slack:C1)">');
    expect(page).toMatch(/list="chats"[^>]*name="chat"/);
    for (const [chat, to] of [
      ["general (slack:C1)", "slack:C1"],
      ["A (slack:C8) group (telegram:-100) ", "telegram:-100"],
      [" slack:C9", "slack:C9"],
    ] as const) {
      expect((await post("add", { ...FIELDS, chat })).status).toBe(303);
      expect(asked.at(-1)?.[1]).toMatchObject({ to });
    }
  });

  it.each(["C9", "general", "irc:C9", "slack:", "(slack:C 9)"])("marks the chat %s", async (chat) => {
    const { post, asked } = await edge();
    const answer = await post("add", { ...FIELDS, chat });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(/id="chat-problem" class="mark">\s*Choose a chat from the list/);
    expect(asked.filter(([name]) => name === "schedules add")).toEqual([]);
  });

  it("gives a local time its time zone, and none to a time that has an offset", async () => {
    const { post, asked } = await edge();
    await post("add", { ...FIELDS, kind: "at", when: "2027-01-31 09:00" });
    expect(asked[0]?.[1]).toMatchObject({ at: "2027-01-31 09:00", timezone: "Europe/Berlin" });
    await post("add", { ...FIELDS, kind: "at", when: "2027-01-31T09:00:00+01:00" });
    expect(asked[1]?.[1]).not.toHaveProperty("timezone");
  });

  it("shows the next runs before anything is saved", async () => {
    const preview = {
      words: "At 09:00, Monday through Friday",
      next: [{ at: "2026-11-24T08:00:00.000Z", local: "Tue 24 Nov 2026, 09:00 CET" }],
    };
    const { post, asked, look } = await edge((name) => (name === "schedules preview" ? preview : LIST));
    const answer = await post("preview", FIELDS);
    expect(answer.status).toBe(200);
    const page = await answer.text();
    expect(page).toMatch(/Monday through Friday[\s\S]*Not saved yet[\s\S]*Tue 24 Nov 2026, 09:00 CET/);
    expect(page).toContain("What is new?\nAnything?</textarea");
    expect(asked[0]).toEqual(["schedules preview", { cron: "0 9 * * 1-5", timezone: "Europe/Berlin" }]);
    expect(asked.filter(([name]) => name === "schedules add")).toEqual([]);
    expect(await (await look("/_admin/activity")).text()).not.toContain("slack:C9");
    expect((await post("preview", { ...FIELDS, when: "" })).status).toBe(400);
  });

  it("edits a schedule, which is in the activity", async () => {
    const { look, post, asked } = await edge(undefined, "ready", [GENERAL]);
    const page = await (await look("/_admin/schedules/edit?id=cli:1")).text();
    expect(page).toMatch(/value="general \(slack:C1\)"[^>]*name="chat"/);
    expect(page).toContain('value="0 9 * * 1-5"');
    expect(page).toContain("&lt;b&gt;Good morning&lt;/b&gt;</textarea");
    expect(page).toContain('action="/_admin/schedules/edit?id=cli%3A1"');
    const answer = await post("edit?id=cli:1", FIELDS);
    expect(answer.headers.get("location")).toBe("/_admin/schedules?done=rescheduled");
    expect(asked.at(-1)).toEqual([
      "schedules edit",
      {
        id: "cli:1",
        to: "slack:C9",
        cron: "0 9 * * 1-5",
        timezone: "Europe/Berlin",
        prompt: "What is new?\nAnything?",
      },
    ]);
    expect(await (await look("/_admin/activity")).text()).toContain("edited cli:1");
  });

  it("keeps a refused change of a schedule in its form", async () => {
    const error = { code: "schedule_invalid", message: "cron: must be five fields" };
    const { post } = await edge((name) => (name === "schedules edit" ? { error } : LIST));
    const page = await (await post("edit?id=cli:1", { ...FIELDS, when: "daily" })).text();
    expect(page).toMatch(/value="daily"[^>]*aria-invalid="true"[\s\S]*id="when-problem"/);
    expect(page).toContain('action="/_admin/schedules/edit?id=cli%3A1"');
  });

  it("knows no other schedule to edit", async () => {
    const { look, post } = await edge();
    expect((await look("/_admin/schedules/edit?id=cli:2")).status).toBe(404);
    expect((await look("/_admin/schedules/edit?id=a%20b")).status).toBe(400);
    expect((await post("edit", FIELDS)).status).toBe(400);
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
