import { describe, expect, it } from "vitest";
import { reason } from "../../../runtime/contract/errors.ts";
import { edgeFixture, NOW, operationAnswers, signedIn } from "../../support/edge.ts";

const HOST = "https://steward.example.com";
const operator = signedIn();
const ago = (milliseconds: number) => new Date(NOW - milliseconds).toISOString();

async function page(path: string, options: Parameters<typeof edgeFixture>[0] = {}) {
  const { jwk, headers } = await operator;
  const fixture = edgeFixture({ jwk, ...options });
  const response = await fixture.app.request(`${HOST}${path}`, { headers });
  return { ...fixture, text: await response.text(), status: response.status };
}

describe("GET /_admin/channels", () => {
  it("shows each platform's own error with the remedy, its last event and its polling", async () => {
    const { text } = await page("/_admin/channels", {
      gateway: {
        channels: [
          {
            platform: "slack",
            state: "failing",
            reason: reason("slack_token_expired"),
            lastEventAt: ago(7_200_000),
          },
          { platform: "telegram", state: "ready", polledAt: ago(180_000) },
          { platform: "discord", state: "disabled" },
        ],
      },
    });
    expect(text).toMatch(/Slack[\s\S]*state bad[^>]*>Failing[\s\S]*Reinstall the app[\s\S]*2 hours ago/);
    expect(text).toMatch(/Telegram[\s\S]*state ok[^>]*>Ready[\s\S]*none since the start[\s\S]*3 minutes ago/);
    expect(text).toMatch(/Discord[\s\S]*Switched off/);
  });

  it("shows the tool servers, and what was not understood", async () => {
    const { text } = await page("/_admin/channels", {
      gateway: {
        servers: [
          { name: "files", state: "ready", tools: 3, leftOut: [{ name: "odd<b>", problem: "no object" }] },
          { name: "mail", state: "failing", tools: 0, leftOut: [], problem: "spawn mail ENOENT" },
          { name: "new", state: "unknown", tools: 0, leftOut: [] },
        ],
        findings: [
          { area: "message", what: "telegram: message.<i>", count: 3, lastAt: ago(180_000) },
          { area: "stream", what: "x/y: finish reason eos", count: 1, lastAt: ago(7_200_000) },
        ],
      },
    });
    expect(text).toMatch(/files[\s\S]*state ok[^>]*>Ready[\s\S]*odd&lt;b&gt;: no object/);
    expect(text).toMatch(/mail[\s\S]*state bad[^>]*>Failing[\s\S]*spawn mail ENOENT/);
    expect(text).toMatch(/A message[\s\S]*telegram: message\.&lt;i&gt;[\s\S]*3[\s\S]*3 minutes ago/);
    expect(text).toContain("steward contract --json");
    expect((await page("/_admin/channels")).text).not.toContain("Not understood");
  });

  it("tests a channel: the platform says who the bot is, and nothing is sent", async () => {
    const { jwk, headers } = await operator;
    const bot = { id: "U<1>", name: "steward<b>", at: ago(0) };
    const gateway = { channels: [{ platform: "slack" as const, state: "ready" as const, bot }] };
    const press = async (health: object, platform = "slack") => {
      const answers = { "/channels/test": () => Response.json(health) };
      const fixture = edgeFixture({ jwk, answers, gateway });
      const response = await fixture.app.request(`${HOST}/_admin/channels/test`, {
        method: "POST",
        headers: { ...headers, origin: HOST, "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ platform }),
      });
      return { ...fixture, status: response.status, text: await response.text() };
    };
    const { text, requests, logged } = await press({ platform: "slack", state: "ready", bot });
    expect(text).toMatch(
      /Slack answered after \d+ ms: the token belongs to <strong title="U&lt;1&gt;"><bdi>@steward&lt;b&gt;/,
    );
    expect(text).toContain("No message was sent.");
    expect(requests).toEqual([
      { port: "gateway", request: { method: "POST", path: "/channels/test", body: '{"platform":"slack"}' } },
    ]);
    expect(logged.join()).toMatch(/operator: channel.*operator@example\.com.*slack/);
    expect((await page("/_admin/channels", { gateway })).text).toMatch(
      /@steward&lt;b&gt;[\s\S]*checked <time[^>]*>just now/,
    );

    const failing = { platform: "slack", state: "failing", reason: reason("slack_token_expired") };
    const failed = await press(failing);
    expect(failed.text).toMatch(/role="alert"[\s\S]*slack_token_expired[\s\S]*Reinstall the app/);
    expect(failed.text).not.toContain("answered after");
    expect((await press(failing, "icq")).status).toBe(400);
  });

  it("shows until when a model is left alone, and why", async () => {
    const until = "2026-11-21T12:00:00.000Z";
    const { text } = await page("/_admin/models", {
      gateway: {
        models: [{ id: "openai/x", state: "cooling", until, reason: reason("model_rate_limited") }],
      },
    });
    expect(text).toMatch(
      /openai\/x[\s\S]*Paused after a failure[\s\S]*2026-11-21T12:00[\s\S]*model_rate_limited/,
    );
  });

  it("says where nothing is configured, and while the gateway is down, waking nothing", async () => {
    expect((await page("/_admin/channels", { gateway: { channels: [] } })).text).toContain(
      "No channel is configured",
    );
    const { text, requests, wakes } = await page("/_admin/channels", { state: "stopped" });
    expect(text).toContain("once the gateway has run");
    expect([...requests, ...wakes]).toEqual([]);
  });
});

describe("GET /_admin/channels, requests to services", () => {
  const broker = {
    answered: 12,
    failed: 3,
    refused: 9,
    operations: { "slack/file": { answered: 12, failed: 3, refused: 4 } },
  };

  it.each(["ready", "stopped"] as const)("counts them by operation while it is %s", async (state) => {
    const { text } = await page("/_admin/channels", { state, status: { broker } });
    const cells = /slack\/file<\/th>([\s\S]*?)<\/tr>/.exec(text)?.[1]?.match(/\d+(?=<\/td>)/g);
    expect(cells).toEqual(["12", "3", "4"]);
    expect(text).toMatch(/without a valid pass: 5\s+refused/);
  });

  it("leaves them out before the first", async () => {
    expect((await page("/_admin/channels")).text).not.toContain("Requests to services");
  });
});

describe("GET /_admin/sessions", () => {
  const list = (sessions: unknown) => operationAnswers(() => ({ sessions }));

  it("lists conversations as the command line does, in a table with a caption", async () => {
    const sessions = [
      { conversation: "slack:T1:<C1>", messages: 12, lastAt: ago(60_000) },
      { conversation: "telegram:42", messages: 1, lastAt: ago(86_400_000) },
    ];
    const { text, requests } = await page("/_admin/sessions", list(sessions));
    expect(text).toMatch(/<caption>\s*Conversations: 2\./);
    expect(text).toMatch(
      /conversation=slack%3AT1%3A%3CC1%3E"\s*><bdi>T1:&lt;C1&gt;[\s\S]*Slack<\/td>[\s\S]*12<\/td>[\s\S]*1 minute ago[\s\S]*<bdi>42[\s\S]*Telegram<\/td>/,
    );
    expect(requests[0]?.request.body).toBe('{"operation":"sessions list","input":{}}');
  });

  it("says what the config's rules are going to remove, and from when on", async () => {
    const retention = { beginsAt: "2026-11-24T08:00:00.000Z", messages: 70 };
    const { text } = await page("/_admin/sessions", { gateway: { retention } });
    expect(text).toMatch(
      /<code>sessions.retention<\/code> in the config requires, 70 messages[\s\S]*2026-11-24 08:00 UTC/,
    );
    const done = { gateway: { retention: { ...retention, messages: 0 } } };
    expect((await page("/_admin/sessions", done)).text).not.toContain("sessions.retention");
  });

  it("shows 50 a page, finds by a part of the name and by time, and keeps both in its links", async () => {
    const sessions = Array.from({ length: 120 }, (_, index) => ({
      conversation: `slack:T1:C${index}`,
      messages: 1,
      lastAt: ago(index * 3_600_000),
    }));
    const of = async (query: string) => (await page(`/_admin/sessions${query}`, list(sessions))).text;
    expect(await of("")).toMatch(/Conversations: 120\.[\s\S]*T1:C49<[\s\S]*Page 1 of 3/);
    expect(await of("")).not.toContain("T1:C50<");
    expect(await of("?page=3")).toMatch(/T1:C100<[\s\S]*page=2/);
    expect(await of("?page=9")).toContain("Page 3 of 3");
    expect(await of("?q=c11")).toMatch(/Conversations: 11\./);
    expect(await of("?range=day")).toMatch(/Conversations: 25\./);
    expect(await of("?range=month&q=C")).toContain("?q=C&amp;range=month&amp;page=2");
    expect(await of("?q=%3Cb%3E")).toMatch(/Conversations: 0\.[\s\S]*/);
    expect(await of("?q=%3Cb%3E")).toContain('value="&lt;b&gt;"');
    for (const wrong of ["?page=0", "?page=x", "?range=year", `?q=${"x".repeat(101)}`])
      expect(await of(wrong)).toContain("query_invalid");
  });

  it("names chats and orders them by any column, and keeps the order in its links", async () => {
    const sessions = Array.from({ length: 60 }, (_, index) => ({
      conversation: `telegram:${index}`,
      messages: (index * 7) % 60,
      lastAt: ago(index * 1_000),
      ...(index === 5 && { name: "Ada" }),
    }));
    const of = async (query: string) => (await page(`/_admin/sessions${query}`, list(sessions))).text;
    const messages = (text: string) =>
      [...text.matchAll(/"Messages">(\d+)/g)].map(([, count]) => Number(count));
    expect(messages(await of("?sort=messages")).slice(0, 3)).toEqual([0, 1, 2]);
    expect(messages(await of("?sort=-messages")).slice(0, 3)).toEqual([59, 58, 57]);
    const text = await of("?sort=-messages&q=telegram");
    expect(text).toContain("?q=telegram&amp;sort=-messages&amp;page=2");
    expect(text).toMatch(/aria-sort="descending"><a href="[^"]*sort=messages">Messages/);
    expect(text).toContain('<input type="hidden" name="sort" value="-messages"/>');
    expect(await of("?q=ada")).toMatch(/Conversations: 1\.[\s\S]*title="telegram:5"[\s\S]*<bdi>Ada/);
  });

  it("has words for none, for a container that is stopped and for one that does not tell", async () => {
    expect((await page("/_admin/sessions", list([]))).text).toContain("Nobody has written yet.");
    const stopped = await page("/_admin/sessions", { state: "stopped" });
    expect(stopped.text).toContain("once the container has run");
    expect([...stopped.requests, ...stopped.wakes]).toEqual([]);
    expect((await page("/_admin/sessions", list("none"))).text).toContain("command_failed");
  });

  it("starts a conversation over, tells so, and records who did it", async () => {
    const { jwk, headers } = await operator;
    const { answers, lines } = operationAnswers(() => ({}));
    const { app } = edgeFixture({ jwk, state: "ready", answers });
    const form = { ...headers, origin: HOST, "content-type": "application/x-www-form-urlencoded" };
    const reset = (conversation: string) =>
      app.request(`${HOST}/_admin/sessions/reset`, {
        method: "POST",
        headers: form,
        body: new URLSearchParams({ conversation }).toString(),
      });
    const answer = await reset("slack:T1:C1");
    expect(answer.status).toBe(303);
    expect(lines).toEqual(["sessions reset slack:T1:C1"]);
    const shown = await app.request(`${HOST}${answer.headers.get("location")}`, { headers });
    expect(await shown.text()).toContain("Started over.");
    const activity = await app.request(`${HOST}/_admin/activity`, { headers });
    expect(await activity.text()).toMatch(/Started a conversation over[\s\S]*slack:T1:C1/);

    for (const wrong of ["", "--json", "a\nb", "x".repeat(301)])
      expect((await reset(wrong)).status).toBe(400);
    expect(lines.filter((line) => line.startsWith("sessions reset"))).toHaveLength(1);
  });
});
