import { expect, test } from "vitest";
import type { GatewayStatus } from "../../../runtime/contract/control.ts";
import { askJson, startGateway, surroundings, writeConfig } from "../support/gateway.ts";
import { CONTROL_TOKEN } from "../support/processes.ts";
import { modelError, modelStream } from "../support/platforms.ts";
import { steward } from "../support/cli.ts";
import { deviceStore, hello, newDevice, openPage, openSocket, pair } from "../support/webchat.ts";

async function started() {
  const around = await surroundings();
  await writeConfig(around.home);
  const gateway = await startGateway(around.environment);
  return { ...around, gateway };
}

test("a stranger is told its request, gets in once the operator approved it, and chats", async () => {
  const { url, home, environment, model } = await started();
  const device = newDevice();
  const page = await openPage(url, device);
  const { requestId, command } = await page.got("pairing");
  expect(command).toBe(`steward devices approve ${requestId.slice(0, 12)}`);
  expect(deviceStore(home).store.pending()).toMatchObject([
    {
      requestId,
      deviceId: device.deviceId,
      displayName: "Test on Linux",
      platform: "web",
      remoteIp: "127.0.0.1",
    },
  ]);
  expect(model.calls).toEqual([]);

  const approved = await steward(environment, ...command.split(" ").slice(1));
  expect(approved).toMatchObject({ code: 0 });
  expect(await page.got("welcome")).toMatchObject({ history: [], items: [], running: [] });

  page.send({ type: "say", id: "message-1", text: "hello there" });
  await page.got("accepted", "message-1");
  await page.got("typing", "message-1");
  expect(await page.got("answer", "message-1")).toMatchObject({ text: "You said: hello there" });
  const { counts } = await askJson<GatewayStatus>(`${url}/status`);
  expect(counts).toMatchObject({ messages: 2, webChat: 2, answered: 1 });
});

test("a browser has the rights that its approval granted, or its name in the config, from the next message on", async () => {
  const { url, home, environment } = await started();
  const device = newDevice();
  pair(home, device);
  const page = await openPage(url, device);
  await page.got("welcome");
  let count = 0;
  const say = async (text: string) => {
    count += 1;
    page.send({ type: "say", id: `message-${count}`, text });
    return (await page.got("answer", `message-${count}`)).text;
  };
  const refused = `"web:${device.deviceId}" has to be in agent.operators`;
  expect(await say("/usage")).toContain(refused);
  const grant = (role: string) => steward(environment, "devices", "grant", device.deviceId, role);
  expect(await grant("operator")).toMatchObject({ code: 0 });
  expect(await say("/usage")).toContain("Today:");
  expect(await grant("person")).toMatchObject({ code: 0 });
  expect(await say("/usage")).toContain(refused);
});

test("an answer grows, and reaches every page of the device", async () => {
  const { url, home, model } = await started();
  const device = newDevice();
  pair(home, device);
  const [one, two] = [await openPage(url, device), await openPage(url, device)];
  await Promise.all([one.got("welcome"), two.got("welcome")]);
  model.next(modelStream("one two three"));
  one.send({ type: "say", id: "message-1", text: "count" });
  expect((await two.got("text", "message-1")).soFar).toMatch(/^one /);
  expect(await two.got("answer", "message-1")).toMatchObject({ text: "one two three" });
  expect(await two.got("accepted", "message-1")).toMatchObject({ text: "count" });
});

test("a message that is said again after a lost connection is answered once, and the history stays", async () => {
  const { url, home, model, gateway, environment } = await started();
  const device = newDevice();
  pair(home, device);
  const { promise: seen, resolve: release } = Promise.withResolvers<void>();
  model.next(modelStream("the only answer", { until: seen }));
  const first = await openPage(url, device);
  await first.got("welcome");
  first.send({ type: "say", id: "message-1", text: "once" });
  await first.got("accepted");
  first.close();

  const second = await openPage(url, device);
  expect((await second.got("welcome")).running).toEqual(["message-1"]);
  second.send({ type: "say", id: "message-1", text: "once" });
  release();
  expect(await second.got("answer")).toMatchObject({ text: "the only answer" });
  expect(model.calls).toHaveLength(1);

  gateway.kill("SIGTERM");
  expect(await second.closed()).toBe(1012);
  expect(await gateway.exited).toBe(0);
  await startGateway(environment);
  const third = await openPage(url, device);
  expect((await third.got("welcome")).history).toMatchObject([
    { id: "message-1", role: "user", text: "once" },
    { id: "message-1", role: "assistant", text: "the only answer" },
  ]);
  third.send({ type: "say", id: "message-1", text: "once" });
  expect(await third.got("answer")).toMatchObject({ text: "the only answer" });
  expect(model.calls).toHaveLength(1);
});

test("commands work: /whoami at once, /stop ends the answer under way", async () => {
  const { url, home, model } = await started();
  const device = newDevice();
  pair(home, device);
  const page = await openPage(url, device);
  await page.got("welcome");
  model.next(modelStream("too late", { delayMs: 20_000 }));
  page.send({ type: "say", id: "message-1", text: "think long" });
  await page.got("typing", "message-1");
  page.send({ type: "say", id: "message-2", text: "/whoami" });
  expect((await page.got("answer", "message-2")).text).toContain(device.deviceId);
  page.send({ type: "say", id: "message-3", text: "/stop" });
  expect(await page.got("answer", "message-1")).toMatchObject({ text: "Stopped." });
  expect(await page.got("answer", "message-3")).toMatchObject({ text: "Stopped." });
});

test("what a model cannot do now is an error that may be said again", async () => {
  const { url, home, model } = await started();
  const device = newDevice();
  pair(home, device);
  const page = await openPage(url, device);
  await page.got("welcome");
  const overloaded = modelError(529, "overloaded_error", "Overloaded");
  model.next(overloaded, overloaded, overloaded, overloaded);
  page.send({ type: "say", id: "message-1", text: "hello" });
  expect(await page.got("error", "message-1")).toMatchObject({ again: true });
});

test("a revoked device is closed at once, and not let in again", async () => {
  const { url, home, environment } = await started();
  const device = newDevice();
  pair(home, device);
  const page = await openPage(url, device);
  await page.got("welcome");
  const revoked = await steward(environment, "devices", "revoke", device.deviceId.slice(0, 10));
  expect(revoked.code).toBe(0);
  expect(await page.closed()).toBe(4403);
  expect(await (await openPage(url, device)).closed()).toBe(4403);
  expect(deviceStore(home).store.pending()).toEqual([]);
});

test("a rejected request ends the connection", async () => {
  const { url, home } = await started();
  const page = await openPage(url, newDevice());
  const { requestId } = await page.got("pairing");
  deviceStore(home).store.reject(requestId);
  expect(await page.closed()).toBe(4408);
});

test.each([
  ["another's nonce", { nonce: "A".repeat(43) }],
  ["another origin", { origin: "https://elsewhere.example" }],
  ["another key", { key: newDevice().privateKey }],
])("a signature over %s is refused", async (_, signed) => {
  const { url, home } = await started();
  const device = newDevice();
  pair(home, device);
  const page = openSocket(url);
  const { nonce } = await page.got("challenge");
  page.send(hello(device, nonce, url, signed));
  expect(await page.closed()).toBe(4401);
  expect(page.messages).toHaveLength(1);
});

test("a hello that was heard on one connection is worth nothing on another", async () => {
  const { url, home } = await started();
  const device = newDevice();
  pair(home, device);
  const first = openSocket(url);
  const heard = hello(device, (await first.got("challenge")).nonce, url);
  first.send(heard);
  await first.got("welcome");
  const second = openSocket(url);
  await second.got("challenge");
  second.send(heard);
  expect(await second.closed()).toBe(4401);
});

test("another device's id with an own key is refused", async () => {
  const { url, home } = await started();
  const [victim, stranger] = [newDevice(), newDevice()];
  pair(home, victim);
  const page = openSocket(url);
  const { nonce } = await page.got("challenge");
  page.send(hello({ ...stranger, deviceId: victim.deviceId }, nonce, url));
  expect(await page.closed()).toBe(4401);
});

/** The smallest of all: https://www.w3.org/TR/png-3/ */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

test("pictures come in pieces before their message, and reach the model with it or without words", async () => {
  const { url, home, model } = await started();
  const device = newDevice();
  pair(home, device);
  const page = await openPage(url, device);
  await page.got("welcome");
  const picture = (id: string) => {
    page.send({ type: "picture", id, part: PNG.slice(0, 40) });
    page.send({ type: "picture", id, part: PNG.slice(40), ends: true });
  };
  picture("message-0");
  picture("message-1");
  picture("message-1");
  page.send({ type: "say", id: "message-1", text: "which?" });
  const lines = "[image: picture 1]\n[image: picture 2]";
  expect(await page.got("accepted", "message-1")).toMatchObject({ text: `which?\n${lines}` });
  await page.got("answer", "message-1");
  const asked = () => JSON.parse(model.calls.at(-1)?.body ?? "{}").messages.at(-1).content;
  expect(asked()).toMatchObject([
    { type: "image", source: { media_type: "image/png", data: PNG } },
    { type: "image" },
    { type: "text", text: `which?\n${lines}` },
  ]);
  picture("message-2");
  page.send({ type: "say", id: "message-2", text: "" });
  await page.got("answer", "message-2");
  expect(asked()).toMatchObject([{ type: "image" }, { type: "text", text: "[image: picture 1]" }]);
});

test.each([
  ["nothing", 0],
  ["more pictures than a message may have", 5],
])("%s closes the socket of a paired browser", async (_, count) => {
  const { url, home } = await started();
  const device = newDevice();
  pair(home, device);
  const page = await openPage(url, device);
  await page.got("welcome");
  for (let at = 0; at < count; at += 1)
    page.send({ type: "picture", id: "message-1", part: PNG, ends: true });
  if (count === 0) page.send({ type: "say", id: "message-1", text: "" });
  expect(await page.closed()).toBe(4400);
});

test.each([
  ["too long a message", "x".repeat(33 * 1024), 1009],
  ["no JSON", "hello", 4400],
  ["a message before hello", JSON.stringify({ type: "say", id: "message-1", text: "hi" }), 4400],
  ["a picture before hello", JSON.stringify({ type: "picture", id: "message-1", part: "" }), 4400],
  ["another form", JSON.stringify({ type: "hello", deviceId: "x" }), 4400],
])("%s closes the socket", async (_, text, code) => {
  const { url } = await started();
  const page = openSocket(url);
  await page.got("challenge");
  page.sendText(text);
  expect(await page.closed()).toBe(code);
});

test("only the service's own page gets a socket; only the edge may say where it is and comes from", async () => {
  const { url, home } = await started();
  const refused = async (headers: Record<string, string>) => openSocket(url, headers).refused();
  expect(await refused({ origin: "https://elsewhere.example" })).toBe(403);
  const forwarded = {
    origin: "https://chat.example",
    "x-forwarded-host": "chat.example",
    "x-forwarded-for": "192.0.2.7",
  };
  expect(await refused(forwarded)).toBe(403);
  expect(await refused({ ...forwarded, authorization: "Bearer wrong" })).toBe(403);
  const page = openSocket(url, { ...forwarded, authorization: `Bearer ${CONTROL_TOKEN}` });
  const { nonce } = await page.got("challenge");
  page.send(hello(newDevice(), nonce, "https://chat.example"));
  await page.got("pairing");
  expect(deviceStore(home).store.pending()).toMatchObject([{ remoteIp: "192.0.2.7" }]);
});

test("a stranger with many sockets and keys keeps nobody out", async () => {
  const { url, home } = await started();
  const from = (address: string) => ({
    origin: "https://chat.example",
    "x-forwarded-host": "chat.example",
    "x-forwarded-for": address,
    authorization: `Bearer ${CONTROL_TOKEN}`,
  });
  const first = openSocket(url, from("2001:db8:1:2::1"));
  await first.got("challenge");
  for (let n = 2; n <= 120; n += 1) {
    await openSocket(url, from(`2001:db8:1:2::${n.toString(16)}`)).got("challenge");
  }
  expect(await first.closed()).toBe(4429);

  const device = newDevice();
  pair(home, device);
  await (await openPage(url, device)).got("welcome");
  await (await openPage(url, newDevice())).got("pairing");
  for (let n = 0; n < 4; n += 1) await (await openPage(url, newDevice())).got("pairing");
});

test("one that sends faster than anybody types is slowed down", async () => {
  const { url, home } = await started();
  const device = newDevice();
  pair(home, device);
  const page = await openPage(url, device);
  await page.got("welcome");
  for (let n = 0; n < 30; n += 1) page.send({ type: "say", id: `message-${n}`, text: "/help" });
  expect(await page.got("error")).toMatchObject({ code: "chat_too_many", again: true });
});
