import { describe, expect, it } from "vitest";
import { command, createDiscordKey, directCommand, pressed } from "../../support/discord.ts";
import { createSigner, edgeFixture, NOW } from "../../support/edge.ts";

const key = await createDiscordKey();
const edge = (options: Parameters<typeof edgeFixture>[0] = {}) =>
  edgeFixture({ discordPublicKey: key.publicKey, ...options });
const PING = { id: "1", application_id: "2", type: 1, token: "unused", version: 1 };

async function post(app: ReturnType<typeof edgeFixture>["app"], body: unknown, headers?: object) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const init = { method: "POST", body: text, headers: { ...(headers ?? (await key.headers(text))) } };
  return app.request("/discord/interactions", init);
}

describe("POST /discord/interactions", () => {
  it.each(["ready", "starting", "stopped", "crash-looping"] as const)(
    "answers a signed PING while the gateway is %s and wakes nothing",
    async (state) => {
      const { app, wakes, admitted } = edge({ state });
      const response = await post(app, PING);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ type: 1 });
      expect({ wakes, admitted }).toEqual({ wakes: [], admitted: [] });
    },
  );

  it.each(["ready", "stopped"] as const)(
    "records a command before it defers its answer, while the gateway is %s",
    async (state) => {
      const { app, admitted } = edge({ state });
      const payload = command("hello");
      const response = await post(app, payload);
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toContain("application/json");
      expect(await response.json()).toEqual({ type: 5 });
      expect(admitted).toEqual([
        {
          id: payload["id"],
          platform: "discord",
          conversation: "discord:645027906669510667",
          receivedAt: NOW,
          payload,
        },
      ]);
    },
  );

  it.each([
    ["/status in a server", command("", { name: "status" }), { type: 5, data: { flags: 64 } }],
    ["/whoami in a server", command("", { name: "whoami" }), { type: 5, data: { flags: 64 } }],
    ["/new in a server", command("", { name: "new" }), { type: 5 }],
    ["/status in a direct message", directCommand("", { name: "status" }), { type: 5 }],
    ["/ask in a direct message", directCommand("hello"), { type: 5 }],
  ])("defers %s so that the right people see it", async (_name, payload, answer) => {
    const { app, admitted } = edge();
    expect(await (await post(app, payload)).json()).toEqual(answer);
    expect(admitted).toHaveLength(1);
  });

  it("records a press of a button beside its chat, and shows no answer being made", async () => {
    const { app, admitted } = edge();
    const payload = pressed("a-button");
    expect(await (await post(app, payload)).json()).toEqual({ type: 6 });
    expect(admitted).toMatchObject([
      { id: payload["id"], conversation: "discord:645027906669510667:press", payload },
    ]);
  });

  const body = JSON.stringify(command("hello"));
  it.each([
    ["no signature", async () => ({ "content-type": "application/json" })],
    ["a signature of another key", async () => (await createDiscordKey()).headers(body)],
    ["a signature of another body", () => key.headers(JSON.stringify(PING))],
    ["a signature from six minutes ago", () => key.headers(body, NOW - 360_000)],
    ["a signature from six minutes ahead", () => key.headers(body, NOW + 360_000)],
    [
      "another time than the signed one",
      async () => ({ ...(await key.headers(body)), "x-signature-timestamp": "1" }),
    ],
    ["a signature that is none", async () => ({ ...(await key.headers(body)), "x-signature-ed25519": "zz" })],
  ])("refuses %s with 401, up or down, as Discord's own check wants it", async (_name, sign) => {
    for (const state of ["ready", "stopped"] as const) {
      const { app, admitted, wakes } = edge({ state });
      const response = await post(app, body, await sign());
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ code: "signature_invalid", status: 401 });
      expect({ admitted, wakes }).toEqual({ admitted: [], wakes: [] });
    }
  });

  it("refuses a PING with a wrong signature with 401", async () => {
    const other = await createDiscordKey();
    const response = await post(edge().app, PING, await other.headers(JSON.stringify(PING)));
    expect(response.status).toBe(401);
  });

  it.each([
    ["a menu", pressed("x", { data: { component_type: 3, custom_id: "x", values: [] } }), { type: 4 }],
    ["a form", { ...PING, type: 5 }, { type: 4, data: { flags: 64 } }],
    ["a command that is not offered", command("", { name: "play" }), { type: 4, data: { flags: 64 } }],
    ["a completion", { ...PING, type: 4 }, { type: 8, data: { choices: [] } }],
  ])("answers %s at once, and records nothing", async (_name, payload, answer) => {
    const { app, admitted } = edge();
    expect(await (await post(app, payload)).json()).toMatchObject(answer);
    expect(admitted).toEqual([]);
  });

  it.each([
    ["text", "hello", { "content-type": "text/plain" }, 415, "media_type_unsupported"],
    ["broken JSON", "{", undefined, 400, "body_invalid"],
    ["a body that is no interaction", "{}", undefined, 400, "body_invalid"],
  ])("refuses %s with a problem document", async (_name, text, headers, status, code) => {
    const response = await post(edge().app, text, headers);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ status, code });
  });

  it("refuses a body above 1 MiB", async () => {
    const response = await post(edge().app, command("x".repeat(1024 * 1024)));
    expect(response.status).toBe(413);
  });

  it("says what is missing where no public key is set", async () => {
    const response = await post(edgeFixture().app, command("hello"));
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      code: "channel_not_configured",
      detail: "DISCORD_PUBLIC_KEY is not set.",
    });
  });

  it("answers 401 with PUBLIC_WEBHOOKS=false unless an identity comes with it", async () => {
    const { jwk, sign } = await createSigner();
    const { app } = edge({ publicWebhooks: false, jwk });
    expect((await post(app, command("hello"))).status).toBe(401);
    const headers = { ...(await key.headers(body)), "cf-access-jwt-assertion": await sign() };
    expect((await post(app, body, headers)).status).toBe(200);
  });
});
