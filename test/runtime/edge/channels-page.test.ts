import { describe, expect, it } from "vitest";
import { reason } from "../../../runtime/contract/errors.ts";
import { edgeFixture, NOW, signedIn } from "../../support/edge.ts";

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
    expect(text).toMatch(/slack[\s\S]*state bad[^>]*>Failing[\s\S]*Reinstall the app[\s\S]*2 hours ago/);
    expect(text).toMatch(/telegram[\s\S]*state ok[^>]*>Ready[\s\S]*none since the start[\s\S]*3 minutes ago/);
    expect(text).toMatch(/discord[\s\S]*Switched off/);
  });

  it("shows until when a model is left alone, and why", async () => {
    const until = "2026-11-21T12:00:00.000Z";
    const { text } = await page("/_admin/channels", {
      gateway: {
        models: [{ id: "openai/x", state: "cooling", until, reason: reason("model_rate_limited") }],
      },
    });
    expect(text).toMatch(/openai\/x[\s\S]*Left alone[\s\S]*2026-11-21T12:00[\s\S]*model_rate_limited/);
  });

  it("says where nothing is configured, and while the gateway is down, waking nothing", async () => {
    expect((await page("/_admin/channels", { gateway: { channels: [] } })).text).toContain(
      "None is configured",
    );
    const { text, requests, wakes } = await page("/_admin/channels", { state: "stopped" });
    expect(text).toContain("once the gateway is up");
    expect([...requests, ...wakes]).toEqual([]);
  });
});

describe("GET /_admin/sessions", () => {
  const list = (sessions: unknown) => ({
    answers: {
      "/cli": () => Response.json({ exitCode: 0, stdout: JSON.stringify({ sessions }), stderr: "" }),
    },
  });

  it("lists conversations as the command line does, in a table with a caption", async () => {
    const sessions = [
      { conversation: "slack:T1:<C1>", messages: 12, lastAt: ago(60_000) },
      { conversation: "telegram:42", messages: 1, lastAt: ago(86_400_000) },
    ];
    const { text, requests } = await page("/_admin/sessions", list(sessions));
    expect(text).toMatch(/<caption>\s*Conversations that are kept: 2\./);
    expect(text).toMatch(
      /slack<\/span> <code>T1:&lt;C1&gt;[\s\S]*12<\/td>[\s\S]*1 minute ago[\s\S]*telegram<\/span> <code>42/,
    );
    expect(requests[0]?.request.body).toBe('{"words":["sessions","list","--json"]}');
  });

  it("says what the config's rules are going to remove, and from when on", async () => {
    const retention = { beginsAt: "2026-11-24T08:00:00.000Z", messages: 70 };
    const { text } = await page("/_admin/sessions", { gateway: { retention } });
    expect(text).toMatch(
      /<code>sessions.retention<\/code> of the config 70 messages[\s\S]*2026-11-24 08:00 UTC/,
    );
    const done = { gateway: { retention: { ...retention, messages: 0 } } };
    expect((await page("/_admin/sessions", done)).text).not.toContain("sessions.retention");
  });

  it("shows the latest 200 of many", async () => {
    const sessions = Array.from({ length: 201 }, (_, index) => ({
      conversation: `slack:T1:C${index}`,
      messages: 1,
      lastAt: ago(0),
    }));
    const { text } = await page("/_admin/sessions", list(sessions));
    expect(text).toContain("kept: 201, of them the latest 200");
    expect(text).toContain("T1:C199<");
    expect(text).not.toContain("T1:C200<");
  });

  it("has words for none, for a container that is stopped and for one that does not tell", async () => {
    expect((await page("/_admin/sessions", list([]))).text).toContain("Nobody has written yet.");
    const stopped = await page("/_admin/sessions", { state: "stopped" });
    expect(stopped.text).toContain("once the container runs");
    expect([...stopped.requests, ...stopped.wakes]).toEqual([]);
    expect((await page("/_admin/sessions", list("none"))).text).toContain("command_failed");
  });
});
