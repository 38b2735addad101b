import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { GatewayStatus } from "../../../runtime/contract/control.ts";
import type { Problem } from "../../../runtime/contract/problem.ts";
import { ask, askJson, deliver, delivery, startGateway, surroundings } from "../support/gateway.ts";

test("health needs no token, everything else does", async () => {
  const { url, environment } = await surroundings();
  await startGateway(environment);

  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ ready: true });
  for (const authorization of [undefined, "Bearer wrong", "Basic abc", "Bearer "]) {
    const headers = authorization === undefined ? {} : { authorization };
    for (const [path, method] of [
      ["/deliveries", "POST"],
      ["/status", "GET"],
      ["/usage", "GET"],
      ["/nothing", "GET"],
    ] as const) {
      const response = await fetch(`${url}${path}`, { method, headers });
      expect(response.status).toBe(401);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      expect(await response.json()).toMatchObject({ code: "control_refused" });
    }
  }
});

test("a gateway without a control token refuses every delivery", async () => {
  const { url, environment } = await surroundings();
  await startGateway({ ...environment, STEWARD_CONTROL_TOKEN: "" });

  expect((await deliver(url, delivery("Ev1"))).status).toBe(401);
  expect((await fetch(`${url}/status`, { headers: { authorization: "Bearer" } })).status).toBe(401);
});

test("a body of another type, size or form is refused with its own code", async () => {
  const { url, environment } = await surroundings();
  await startGateway(environment);
  const post = async (body: string, type: string) => {
    const response = await ask(`${url}/deliveries`, {
      method: "POST",
      headers: { "content-type": type },
      body,
    });
    const { code, detail } = (await response.json()) as Problem;
    return { status: response.status, code, detail };
  };

  expect(await post("{}", "text/plain")).toMatchObject({ status: 415, code: "media_type_unsupported" });
  expect(await post("{", "application/json")).toMatchObject({ status: 400, code: "body_invalid" });
  expect(await post(`"${"x".repeat(2_200_000)}"`, "application/json")).toMatchObject({
    status: 413,
    code: "body_too_large",
  });
  const unknown = await post(
    JSON.stringify({ ...delivery("Ev1"), extra: 1 }),
    "application/json; charset=utf-8",
  );
  expect(unknown).toMatchObject({ status: 400, code: "delivery_invalid" });
  expect(unknown.detail).toContain("extra");
});

test("a platform that is not configured is told, and may be tried again", async () => {
  const { url, environment } = await surroundings();
  await startGateway({ ...environment, SLACK_BOT_TOKEN: "" });

  const { status, answer } = await deliver(url, delivery("Ev1"));

  expect(status).toBe(503);
  expect(answer).toMatchObject({ code: "channel_not_configured" });
});

test("status tells the channels, the model and the counts", async () => {
  const { url, environment } = await surroundings();
  await startGateway({ ...environment, DISCORD_BOT_TOKEN: "discord-token" });
  await deliver(url, delivery("Ev1"));

  const status = await askJson<GatewayStatus>(`${url}/status`);

  expect(status.channels[0]).toMatchObject({ platform: "slack", state: "ready" });
  expect(status.model).toEqual({ id: "anthropic/claude-sonnet-4-5" });
  expect(status.counts).toEqual({ conversations: 1, messages: 2, webChat: 0, answered: 1, active: 0 });
  expect(status.usage).toEqual([
    expect.objectContaining({
      model: "anthropic/claude-sonnet-4-5",
      requests: 1,
      inputTokens: 12,
      outputTokens: 34,
    }),
  ]);
});

test("a connection whose upgrade is refused is gone soon, although its other end stays", async () => {
  const { port, environment } = await surroundings();
  await startGateway(environment);
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  let answer = "";
  const gone = new Promise<true>((resolve) => socket.on("error", () => resolve(true)));
  socket.setEncoding("utf8").on("data", (text: string) => (answer += text));
  socket.write("GET /nowhere HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
  await new Promise((resolve) => socket.on("end", resolve));
  expect(answer).toContain('"code":"not_found"');

  // Who writes to a connection that is gone is told so.
  const writing = setInterval(() => socket.write("x"), 100);
  onTestFinished(() => clearInterval(writing));
  expect(await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, 30_000, false))])).toBe(true);
});
