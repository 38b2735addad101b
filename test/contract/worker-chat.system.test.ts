import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { CHAT_CLOSE } from "../../runtime/contract/chat.ts";
import { ROUTES } from "../../runtime/contract/routes.ts";
import { hello, newDevice, openPage, openSocket } from "../runtime/support/webchat.ts";
import { identityGateway } from "../support/identity-gateway.ts";
import { startScriptedModel } from "../support/scripted-model.ts";
import { TYPED } from "../support/typed.ts";
import { startWorker } from "../support/worker.ts";
import { useUpVisits } from "../support/ready.ts";

const ADDRESS = "192.0.2.77";

async function worker(changed: Record<string, string> = {}) {
  const { variables, headers } = await identityGateway();
  const service = await startWorker({ ...variables, ...changed });
  onTestFinished(() => service.stop());
  const url = await service.origin();
  /** Runs one of the operator's commands in the container. */
  const run = async (command: string): Promise<string> => {
    const query = new URLSearchParams({ cmd: command });
    const response = await service.request(`${ROUTES.cli.path}?${query}`, {
      headers: { ...headers, ...TYPED },
    });
    const result = (await response.json()) as { exitCode: number; stdout: string };
    expect(result).toMatchObject({ exitCode: 0 });
    return result.stdout;
  };
  /** A page, once the container that it wakes is ready. */
  const open = async (device = newDevice()) => {
    await service.request("/");
    await service.inState("ready");
    return openPage(url, device, { "cf-connecting-ip": ADDRESS });
  };
  /** A page whose device is approved. */
  const openPaired = async (device = newDevice()) => {
    const page = await open(device);
    const { command } = await page.got("pairing");
    await run(command.replace(/^steward /, ""));
    await page.got("welcome");
    return page;
  };
  return { ...service, url, run, open, openPaired };
}

test("over the Worker a device pairs, is approved, and is answered as the answer grows", async () => {
  const { open, run } = await worker();
  const page = await open();
  const { command } = await page.got("pairing");
  expect(await run("devices list")).toContain(ADDRESS);
  await run(command.replace(/^steward /, ""));
  expect(await page.got("welcome")).toMatchObject({ history: [] });
  page.send({ type: "say", id: "message-1", text: "over the Worker" });
  const { text } = await page.got("answer", "message-1");
  expect(text).toContain("over the Worker");
  const { soFar } = await page.got("text", "message-1");
  expect(text.startsWith(soFar)).toBe(true);
  page.sendText("not a message");
  expect(await page.closed()).toBe(CHAT_CLOSE.invalid);
});

test("over the Worker a page fetches a file that was sent to it, by its ticket alone", async () => {
  const model = await startScriptedModel("127.0.0.1", [{ name: "send_file", input: { path: "notes.md" } }]);
  onTestFinished(() => model.close());
  const { openPaired, run, request } = await worker({ ANTHROPIC_BASE_URL: model.url });
  const page = await openPaired();
  await run("workspace write notes.md none -- kept");
  page.send({ type: "say", id: "message-1", text: "the notes, please" });
  const { item } = await page.got("file", "message-1");
  const { ticket } = await page.got("welcome");
  const get = (name: string, by: string) =>
    request(`/chat/files/${name}`, { headers: { authorization: `Bearer ${by}` } });
  const file = await get(item, ticket);
  expect([file.status, file.headers.get("content-disposition"), await file.text()]).toEqual([
    200,
    "attachment",
    "kept",
  ]);
  expect((await get(item, "t".repeat(43))).status).toBe(403);
  expect((await get("f".repeat(22), ticket)).status).toBe(404);
});

test("another site's page is refused and wakes nothing", async () => {
  const { url, state, request } = await worker();
  for (const origin of ["https://elsewhere.example", "null", `${url}0`]) {
    expect(await openSocket(url, { origin, "x-forwarded-host": "elsewhere.example" }).refused()).toBe(403);
  }
  expect((await request(ROUTES.chatSocket.path)).status).toBe(426);
  // A start would show at once.
  expect(await state()).toBe("stopped");
});

test("a socket to a sleeping container is refused with 503, and taken on after the wake", async () => {
  const { url, inState } = await worker();
  const early = openSocket(url);
  expect(await early.refused()).toBe(503);
  expect(early.retryAfter()).toBe("5");
  await inState("ready");
  const page = await openPage(url, newDevice());
  await page.got("pairing");
});

test("the container falls asleep while a silent page is open, and wakes for pages three times an hour", async () => {
  const { url, inState, state, openPaired } = await worker({ SANDBOX_SLEEP_AFTER: "8s" });
  const page = await openPaired();
  page.send({ type: "say", id: "message-1", text: "good night" });
  await page.got("answer", "message-1");
  expect(await page.closed()).toBe(CHAT_CLOSE.asleep);
  await inState("stopped");
  for (let wake = 0; wake < 2; wake += 1) {
    const early = openSocket(url);
    expect(await early.refused()).toBe(503);
    expect(early.retryAfter()).toBe("5");
    await inState("ready");
    await inState("stopped");
  }
  // A page may prove its key now, and a stranger's is let go with nothing started.
  const stranger = await openPage(url, newDevice());
  expect(await stranger.closed()).toBe(CHAT_CLOSE.restart);
  await pause(1_000);
  expect(await state()).toBe("stopped");
}, 240_000);

test("a paired device wakes the container as often as its person writes, until its access is revoked", async () => {
  const { url, inState, state, openPaired, request, run } = await worker({ SANDBOX_SLEEP_AFTER: "8s" });
  const device = newDevice();
  const asleep = async (page: { closed(): Promise<number> }): Promise<void> => {
    expect(await page.closed()).toBe(CHAT_CLOSE.asleep);
    await inState("stopped");
  };
  await asleep(await openPaired(device));
  // Strangers have used up the wakes of this hour.
  await useUpVisits({ inState, request });
  const forged = openSocket(url);
  const { nonce } = await forged.got("challenge");
  forged.send(hello(device, nonce, url, { key: newDevice().privateKey }));
  expect(await forged.closed()).toBe(CHAT_CLOSE.unproven);
  expect(await state()).toBe("stopped");

  const page = await openPage(url, device);
  // The gateway asks for a proof of its own.
  const asked = () => page.messages.filter((one) => one.type === "challenge");
  await expect.poll(() => asked().length, { timeout: 60_000 }).toBe(2);
  page.send(hello(device, asked()[1]?.nonce ?? "", url));
  await page.got("welcome");
  page.send({ type: "say", id: "message-1", text: "good morning" });
  expect((await page.got("answer", "message-1")).text).toContain("good morning");
  await run(`devices revoke ${device.deviceId.slice(0, 12)}`);
  expect(await page.closed()).toBe(CHAT_CLOSE.revoked);
  await inState("stopped");
  expect(await (await openPage(url, device)).closed()).toBe(CHAT_CLOSE.restart);
  expect(await state()).toBe("stopped");
}, 300_000);

test("a paired device that hangs up before it is let in wakes the container once", async () => {
  const { url, inState, state, openPaired, request } = await worker({ SANDBOX_SLEEP_AFTER: "8s" });
  const device = newDevice();
  expect(await (await openPaired(device)).closed()).toBe(CHAT_CLOSE.asleep);
  await useUpVisits({ inState, request });
  const page = await openPage(url, device);
  await inState("ready");
  page.close();
  await inState("stopped");
  expect(await (await openPage(url, device)).closed()).toBe(CHAT_CLOSE.restart);
  expect(await state()).toBe("stopped");
}, 300_000);

test("what a paired device says keeps the container awake, a stranger's greetings do not", async () => {
  const { url, open, openPaired } = await worker({ SANDBOX_SLEEP_AFTER: "6s" });
  const stranger = await open();
  const page = await openPaired();
  // Longer than the container stays awake without it.
  for (let turn = 1; turn <= 10; turn += 1) {
    page.send({ type: "say", id: `message-${turn}`, text: `turn ${turn}` });
    await page.got("answer", `message-${turn}`);
    await pause(1_000);
  }
  page.close();
  const device = newDevice();
  const greet = async () => {
    const other = openSocket(url);
    await pause(300);
    const [challenge] = other.messages;
    if (challenge?.type === "challenge") other.send(hello(device, challenge.nonce, url));
    await pause(300);
    other.close();
    return stranger.closeCode();
  };
  await expect.poll(greet, { timeout: 60_000 }).toBe(CHAT_CLOSE.asleep);
}, 180_000);

test("the container stays awake while a model takes its time for an answer", async () => {
  const { openPaired, setModelDelay } = await worker({ SANDBOX_SLEEP_AFTER: "8s" });
  const page = await openPaired();
  setModelDelay(12_000);
  page.send({ type: "say", id: "message-1", text: "think about it" });
  expect((await page.got("answer", "message-1")).text).toContain("think about it");
  expect(await page.closed()).toBe(CHAT_CLOSE.asleep);
}, 180_000);

test("a page is told to connect anew when its container ends", async () => {
  const { openPaired, endContainer } = await worker();
  const page = await openPaired();
  await endContainer();
  expect(await page.closed()).toBe(CHAT_CLOSE.restart);
});
