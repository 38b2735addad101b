import { describe, expect, it } from "vitest";
import { createSigner, edgeFixture, NOW, slackEvent, slackHeaders } from "../../support/edge.ts";

const JSON_HEADERS = { "content-type": "application/json" };
const CHALLENGE = JSON.stringify({ type: "url_verification", challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY" });

async function postEvent(app: ReturnType<typeof edgeFixture>["app"], event: unknown = slackEvent()) {
  const body = JSON.stringify(event);
  return app.request("/slack/events", { method: "POST", body, headers: await slackHeaders(body) });
}

describe("POST /slack/events", () => {
  it.each(["ready", "starting", "stopped", "crash-looping"] as const)(
    "echoes an unsigned challenge while the gateway is %s and wakes nothing",
    async (state) => {
      const { app, wakes, admitted } = edgeFixture({ state });
      const response = await app.request("/slack/events", {
        method: "POST",
        body: CHALLENGE,
        headers: JSON_HEADERS,
      });
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY" });
      expect({ wakes, admitted }).toEqual({ wakes: [], admitted: [] });
    },
  );

  it("records a signed event before it answers 200", async () => {
    const { app, admitted } = edgeFixture();
    const response = await postEvent(app);
    expect(response.status).toBe(200);
    expect(admitted).toMatchObject([
      { id: "Ev1", platform: "slack", conversation: "T1:C1:1795000000.000100", receivedAt: NOW },
    ]);
  });

  it("answers 503 with Retry-After while the gateway is down, and keeps the event", async () => {
    const { app, admitted } = edgeFixture({ state: "stopped" });
    const response = await postEvent(app);
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("10");
    expect(await response.json()).toMatchObject({ code: "gateway_unavailable", status: 503 });
    expect(admitted).toHaveLength(1);
  });

  it("keeps one conversation for a thread and one for a direct message", async () => {
    const { app, admitted } = edgeFixture();
    await postEvent(app, slackEvent("Ev1", { thread_ts: "1795000000.000001" }));
    await postEvent(app, slackEvent("Ev2", { type: "message", channel: "D1", channel_type: "im" }));
    expect(admitted.map((event) => event.conversation)).toEqual(["T1:C1:1795000000.000001", "T1:D1"]);
  });

  const pressed = (body: object) => new URLSearchParams({ payload: JSON.stringify(body) }).toString();
  const press = {
    type: "block_actions",
    team: { id: "T1" },
    user: { id: "U1" },
    channel: { id: "C1" },
    message: { ts: "1.1" },
    actions: [{ action_ts: "1795000000.1", value: "a-button" }],
  };
  const postForm = async (app: ReturnType<typeof edgeFixture>["app"], body: string, signed = body) =>
    app.request("/slack/events", {
      method: "POST",
      body,
      headers: { ...(await slackHeaders(signed)), "content-type": "application/x-www-form-urlencoded" },
    });

  it.each(["ready", "starting"] as const)(
    "records a press of a button and answers it at once, also while the gateway is %s",
    async (state) => {
      const { app, admitted } = edgeFixture({ state });
      expect((await postForm(app, pressed(press))).status).toBe(200);
      expect(admitted).toMatchObject([
        { id: "1795000000.1:a-button", conversation: "T1:C1:press", payload: press },
      ]);
    },
  );

  const ts = "1795000000.000100";
  const changed = (message: object, more: object = {}) => ({
    type: "message",
    subtype: "message_changed",
    ts: "1795000009.000000",
    message: { type: "message", user: "U1", text: "hi", ts, ...message },
    ...more,
  });
  const deleted = (message: object, more: object = {}) => ({
    type: "message",
    subtype: "message_deleted",
    ts: "1795000009.000000",
    deleted_ts: ts,
    previous_message: { type: "message", user: "U1", text: "hi", ts, ...message },
    ...more,
  });

  // https://docs.slack.dev/reference/events/message/message_changed
  it("keeps an edit and a deletion in the conversation of their message", async () => {
    const { app, admitted } = edgeFixture();
    await postEvent(app, slackEvent("Ev1", changed({})));
    await postEvent(app, slackEvent("Ev2", changed({ thread_ts: "1795000000.000001" })));
    await postEvent(app, slackEvent("Ev3", changed({ thread_ts: "1.1" }, { channel: "D1" })));
    await postEvent(app, slackEvent("Ev4", deleted({})));
    await postEvent(app, slackEvent("Ev5", deleted({ thread_ts: "1795000000.000001" })));
    await postEvent(app, slackEvent("Ev6", deleted({}, { channel: "D1", channel_type: "im" })));
    expect(admitted.map(({ conversation }) => conversation)).toEqual([
      `T1:C1:${ts}`,
      "T1:C1:1795000000.000001",
      "T1:D1",
      `T1:C1:${ts}`,
      "T1:C1:1795000000.000001",
      "T1:D1",
    ]);
  });

  it.each([
    ["a reaction", { type: "reaction_added" }],
    ["a reaction that is taken back", { type: "reaction_removed" }],
    ["an edit of the bot's own message", changed({ bot_id: "B1" })],
    ["a deletion of a bot's message", deleted({ bot_id: "B1" })],
    ["an edit of a mention, which comes as a mention", changed({ text: "<@UBOT> hi" })],
    ["a thread's count of replies", { type: "message", subtype: "message_replied" }],
  ])("takes %s without a record", async (_, event) => {
    const { app, admitted, wakes } = edgeFixture({ state: "stopped" });
    const body = { ...slackEvent("Ev1", event), authorizations: [{ user_id: "UBOT", is_bot: true }] };
    expect((await postEvent(app, body)).status).toBe(200);
    expect([admitted, wakes]).toEqual([[], []]);
  });

  it("leaves other interactions, and refuses forms that Slack did not sign or that hold no JSON", async () => {
    const { app, admitted } = edgeFixture();
    expect((await postForm(app, pressed({ type: "view_submission" }))).status).toBe(200);
    expect((await postForm(app, pressed(press), "other")).status).toBe(403);
    expect((await postForm(app, "payload=nothing")).status).toBe(400);
    expect((await postForm(app, "a=b")).status).toBe(400);
    expect(admitted).toEqual([]);
  });

  const event = JSON.stringify(slackEvent());
  it.each([
    ["no signature", async () => JSON_HEADERS],
    ["a signature of another secret", () => slackHeaders(event, "another-secret")],
    ["a signature of another body", () => slackHeaders("{}")],
    ["a signature from six minutes ago", () => slackHeaders(event, undefined, NOW - 360_000)],
    ["a signature from six minutes ahead", () => slackHeaders(event, undefined, NOW + 360_000)],
  ])("refuses %s: 403 while the gateway is up, 503 while it is down", async (_name, sign) => {
    for (const [state, status] of [
      ["ready", 403],
      ["starting", 503],
    ] as const) {
      const { app, admitted, wakes } = edgeFixture({ state });
      const init = { method: "POST", body: event, headers: await sign() };
      const response = await app.request("/slack/events", init);
      expect(response.status).toBe(status);
      expect({ admitted, wakes }).toEqual({ admitted: [], wakes: [] });
    }
  });

  it.each([
    ["text", "hello", { "content-type": "text/plain" }, 415, "media_type_unsupported"],
    ["broken JSON", "{", JSON_HEADERS, 400, "body_invalid"],
    ["a JSON array", "[]", JSON_HEADERS, 400, "body_invalid"],
  ])(
    "refuses %s with a problem document, or 503 while the gateway is down",
    async (_name, body, headers, status, code) => {
      const up = await edgeFixture().app.request("/slack/events", { method: "POST", body, headers });
      expect(up.status).toBe(status);
      expect(up.headers.get("content-type")).toBe("application/problem+json");
      expect(await up.json()).toMatchObject({ status, code });
      const down = await edgeFixture({ state: "stopped" }).app.request("/slack/events", {
        method: "POST",
        body,
        headers,
      });
      expect(down.status).toBe(503);
    },
  );

  it("refuses a body above 1 MiB whether its length is told or not", async () => {
    const body = JSON.stringify({ filler: "x".repeat(1024 * 1024) });
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(body));
        controller.close();
      },
    });
    const init = { method: "POST", headers: JSON_HEADERS, duplex: "half" };
    for (const payload of [body, stream]) {
      const request = new Request("http://edge.example/slack/events", {
        ...init,
        body: payload,
      } as RequestInit);
      expect((await edgeFixture().app.request(request)).status).toBe(413);
    }
  });

  it("says what is missing where no signing secret is set", async () => {
    const response = await postEvent(edgeFixture({ signingSecret: null }).app);
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      code: "channel_not_configured",
      detail: "SLACK_SIGNING_SECRET is not set.",
    });
  });

  it("answers 401 with PUBLIC_WEBHOOKS=false unless an identity comes with it", async () => {
    const { jwk, sign } = await createSigner();
    const fixture = () => edgeFixture({ publicWebhooks: false, jwk });
    for (const body of [CHALLENGE, JSON.stringify(slackEvent())]) {
      const headers = await slackHeaders(body);
      const anonymous = await fixture().app.request("/slack/events", { method: "POST", body, headers });
      expect(anonymous.status).toBe(401);
      expect(await anonymous.json()).toMatchObject({ code: "webhooks_private" });
      const signed = { ...headers, "cf-access-jwt-assertion": await sign() };
      const known = await fixture().app.request("/slack/events", { method: "POST", body, headers: signed });
      expect(known.status).toBe(200);
    }
  });
});
