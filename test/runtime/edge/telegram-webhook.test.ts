import { describe, expect, it } from "vitest";
import { createSigner, edgeFixture, NOW, TELEGRAM_SECRET } from "../../support/edge.ts";

const HEADERS = {
  "content-type": "application/json",
  "x-telegram-bot-api-secret-token": TELEGRAM_SECRET,
};
const GROUP = { id: -1001234567890, type: "supergroup", title: "Team", is_forum: true };
const PERSON = { id: 123456789, is_bot: false, first_name: "Ada", username: "ada" };

/** An update as https://core.telegram.org/bots/api#update has it. */
function update(message: object = {}, kind = "message") {
  const chat = { id: 123456789, type: "private", first_name: "Ada" };
  const body = { message_id: 7, date: 1795000000, from: PERSON, chat, text: "hello", ...message };
  return { update_id: 10_000, [kind]: body };
}

function post(app: ReturnType<typeof edgeFixture>["app"], body: unknown, headers: object = HEADERS) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return app.request("/telegram-webhook", { method: "POST", body: text, headers: { ...headers } });
}

describe("POST /telegram-webhook", () => {
  it("records an update under its id before it answers 200", async () => {
    const { app, admitted } = edgeFixture();
    const response = await post(app, update());
    expect(response.status).toBe(200);
    expect(await response.text()).toBe("");
    expect(admitted).toEqual([
      {
        id: "10000",
        platform: "telegram",
        conversation: "123456789",
        receivedAt: NOW,
        payload: update(),
      },
    ]);
  });

  it("answers 503 with Retry-After while the gateway is down, and keeps the update", async () => {
    const { app, admitted } = edgeFixture({ state: "stopped" });
    const response = await post(app, update());
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("10");
    expect(admitted).toHaveLength(1);
  });

  it.each([
    ["a group", update({ chat: GROUP }), "-1001234567890"],
    [
      "a group's topic",
      update({ chat: GROUP, message_thread_id: 42, is_topic_message: true }),
      "-1001234567890:42",
    ],
    ["a thread that is no topic", update({ chat: GROUP, message_thread_id: 42 }), "-1001234567890"],
    ["an edit", update({ edit_date: 1795000001 }, "edited_message"), "123456789"],
    ["an update without a message", { update_id: 1, poll: { id: "1" } }, "none"],
  ])("gives %s its conversation", async (_name, body, conversation) => {
    const { app, admitted } = edgeFixture();
    expect((await post(app, body)).status).toBe(200);
    expect(admitted).toMatchObject([{ conversation }]);
  });

  it.each([
    ["no secret", undefined],
    ["another secret", "another-secret"],
    ["a beginning of the secret", TELEGRAM_SECRET.slice(0, -1)],
    ["an empty secret", ""],
  ])("refuses %s: 403 while the gateway is up, 503 while it is down", async (_name, secret) => {
    for (const [state, status] of [
      ["ready", 403],
      ["starting", 503],
    ] as const) {
      const { app, admitted, wakes } = edgeFixture({ state });
      const headers = {
        "content-type": "application/json",
        ...(secret !== undefined && { "x-telegram-bot-api-secret-token": secret }),
      };
      const response = await post(app, update(), headers);
      expect(response.status).toBe(status);
      expect({ admitted, wakes }).toEqual({ admitted: [], wakes: [] });
    }
  });

  it.each([
    ["broken JSON", "{", 400, "body_invalid"],
    ["a body that is no update", "{}", 400, "body_invalid"],
    ["an id that is no number", { update_id: "1; drop" }, 400, "body_invalid"],
  ])("refuses %s with a problem document", async (_name, body, status, code) => {
    const { app, admitted } = edgeFixture();
    const response = await post(app, body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ status, code });
    expect(admitted).toEqual([]);
  });

  it("says what is missing where no secret is set, and takes nothing", async () => {
    const { app, admitted } = edgeFixture({ telegramSecret: null });
    for (const headers of [HEADERS, { "content-type": "application/json" }]) {
      const response = await post(app, update(), headers);
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({
        code: "channel_not_configured",
        detail: "TELEGRAM_WEBHOOK_SECRET is not set.",
      });
    }
    expect(admitted).toEqual([]);
  });

  it("answers 401 with PUBLIC_WEBHOOKS=false unless an identity comes with it", async () => {
    const { jwk, sign } = await createSigner();
    const { app } = edgeFixture({ publicWebhooks: false, jwk });
    expect((await post(app, update())).status).toBe(401);
    const known = await post(app, update(), { ...HEADERS, "cf-access-jwt-assertion": await sign() });
    expect(known.status).toBe(200);
  });
});
