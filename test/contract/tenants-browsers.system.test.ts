import { describe, expect, onTestFinished, test } from "vitest";
import { CHAT_CLOSE } from "../../runtime/contract/chat.ts";
import { tenantOf } from "../../runtime/contract/tenant.ts";
import { newDevice, openPage } from "../runtime/support/webchat.ts";
import { eventually } from "../runtime/support/processes.ts";
import { browserIsMissing, openBrowser } from "../support/browser.ts";
import { hostByChat } from "../support/host-tenants.ts";
import { byChat as startByChat } from "../support/tenants.ts";

const SOON = { timeout: 60_000 };
const LONG = { timeout: 240_000 };

type Service = Pick<Awaited<ReturnType<typeof startByChat>>, "change" | "origin" | "stop">;

/** Browsers of a service. */
function browsersOf<S extends Service>(service: S) {
  onTestFinished(service.stop);
  const device = newDevice();
  const connect = async (whose = device) => openPage(await service.origin(), whose);
  /** Pairs a device, and returns its page. */
  const paired = async (whose = device) => {
    const page = await connect(whose);
    const { command } = await page.got("pairing");
    await service.change(command.replace("steward ", ""));
    await page.got("welcome");
    return page;
  };
  /** Connects until a page is let in, as a page does whose connection ends with an update. */
  const welcomed = async (whose = device) => {
    for (;;) {
      const page = await connect(whose);
      const welcome = await eventually(
        () => page.closeCode() ?? page.messages.find((one) => one.type === "welcome"),
      );
      if (typeof welcome === "object" && welcome.type === "welcome") return { page, welcome };
    }
  };
  const tenant = (whose = device) => tenantOf({ platform: "web", chat: whose.deviceId });
  return { ...service, device, connect, paired, welcomed, tenant };
}

async function byChat(variables?: Record<string, string>) {
  const service = await startByChat(variables);
  const running = async (): Promise<string[]> => {
    const all = (await service.environs()).map(
      (environ) => /STEWARD_TENANT=(\S*?)\0/.exec(environ)?.[1] ?? "",
    );
    return [...new Set(all)].sort();
  };
  return { ...browsersOf(service), running };
}

async function onHost(variables?: Record<string, string>) {
  const host = await hostByChat(variables);
  await host.inState("ready");
  const ready = () => host.inState("ready");
  const deploy = async (changed: Record<string, string>): Promise<void> => {
    await host.halt();
    await host.resume(changed);
    await ready();
  };
  return browsersOf({ ...host, origin: async () => host.url, ready, deploy });
}

const IS_ROOT = process.getuid?.() === 0;
const targets = [
  { target: "the Worker", start: byChat },
  ...(IS_ROOT ? [{ target: "a host", start: onHost }] : []),
];

describe.each(targets)("browsers on $target on which each chat has its own sandbox", LONG, ({ start }) => {
  test("a stranger's browser waits for its approval without a container, then has one of its own", async () => {
    const { connect, cli, running, tenant, device } = await start();
    const page = await connect();
    const { requestId } = await page.got("pairing");
    expect(await cli("devices list")).toContain(requestId.slice(0, 12));
    expect(await running()).toEqual([]);

    expect(await cli(`devices approve ${requestId.slice(0, 12)}`)).toContain("Approved device");
    await page.got("welcome");
    expect(await running()).toEqual([tenant()]);
    page.send({ type: "say", id: "message-1", text: "hello from a browser" });
    expect((await page.got("answer", "message-1")).text).toContain("hello from a browser");
    expect(await running()).toEqual([tenant()]);
    expect(await cli("devices list")).toContain(device.deviceId.slice(0, 12));
  });

  test("two browsers share nothing, and a role that changes counts from the next connection on", async () => {
    const { paired, connect, change, running, tenant, device } = await start();
    const other = newDevice();
    const [mine, theirs] = [await paired(), await paired(other)];
    expect(await running()).toEqual([tenant(), tenant(other)].sort());
    mine.send({ type: "say", id: "message-1", text: "the word is heliotrope" });
    await mine.got("answer", "message-1");
    theirs.send({ type: "say", id: "message-2", text: "/whoami" });
    expect((await theirs.got("answer", "message-2")).text).not.toContain("heliotrope");
    expect(
      (await (await connect(other)).got("welcome")).history.map(({ text }) => text).join(),
    ).not.toContain("heliotrope");

    await change(`devices grant ${device.deviceId.slice(0, 12)} operator`);
    expect(await mine.closed()).toBe(CHAT_CLOSE.restart);
    const again = await connect();
    await again.got("welcome");
    again.send({ type: "say", id: "message-3", text: "/whoami" });
    expect((await again.got("answer", "message-3")).text).toContain("operator");
  });

  test("a revoked browser is closed at once, and its container is not started again", async () => {
    const { paired, connect, change, device, running } = await start({ SANDBOX_SLEEP_AFTER: "8s" });
    const page = await paired();
    await change(`devices revoke ${device.deviceId.slice(0, 12)}`);
    expect(await page.closed()).toBe(CHAT_CLOSE.revoked);
    await expect.poll(running, SOON).toEqual([]);
    expect(await (await connect()).closed()).toBe(CHAT_CLOSE.revoked);
    expect(await running()).toEqual([]);
  });

  test("a browser wakes its sandbox as often as its person writes, and finds what was said", async () => {
    const { paired, connect, running } = await start({ SANDBOX_SLEEP_AFTER: "6s" });
    const page = await paired();
    page.send({ type: "say", id: "message-0", text: "round 0" });
    await page.got("answer", "message-0");
    // More often than strangers may wake a container in an hour.
    for (let round = 1; round <= 4; round += 1) {
      await expect.poll(running, SOON).toEqual([]);
      const next = await connect();
      const { history } = await next.got("welcome");
      expect(history.map(({ text }) => text)).toContain(`round ${round - 1}`);
      next.send({ type: "say", id: `message-${round}`, text: `round ${round}` });
      await next.got("answer", `message-${round}`);
    }
  });

  test("a request that is rejected ends the page's connection", async () => {
    const { connect, change, running } = await start();
    const page = await connect();
    const { requestId } = await page.got("pairing");
    await change(`devices reject ${requestId.slice(0, 12)}`);
    expect(await eventually(() => page.closeCode())).toBe(CHAT_CLOSE.late);
    expect(await running()).toEqual([]);
  });

  test("a browser of before keeps its access and what was said, there and back", async () => {
    const world = await start({ TENANCY: "shared" });
    const { paired, welcomed, change, deploy, running, tenant } = world;
    await world.ready();
    const page = await paired();
    page.send({ type: "say", id: "message-1", text: "said before" });
    await page.got("answer", "message-1");
    await change("backup create");

    await deploy({ TENANCY: "chat" });
    const { page: moved, welcome } = await welcomed();
    expect(welcome.history.map(({ text }) => text)).toContain("said before");
    expect(await running()).toContain(tenant());
    moved.send({ type: "say", id: "message-2", text: "said meanwhile" });
    await moved.got("answer", "message-2");
    const other = newDevice();
    await paired(other);
    await change("backup create", tenant());

    await deploy({ TENANCY: "shared" });
    await world.ready();
    const { welcome: back } = await welcomed();
    expect(back.history.map(({ text }) => text)).toEqual(
      expect.arrayContaining(["said before", "said meanwhile"]),
    );
    await welcomed(other);
  });
});

test.skipIf(browserIsMissing)(
  "the chat page of a browser with its own sandbox says what it waits for",
  LONG,
  async () => {
    const { change, origin, running } = await byChat({ SANDBOX_SLEEP_AFTER: "8s" });
    const page = await openBrowser();
    await page.goto(`${await origin()}/chat`);
    await expect.poll(() => page.locator("#pairing").isVisible(), SOON).toBe(true);
    expect(await running()).toEqual([]);
    await change(`devices approve ${await page.locator("#request").textContent()}`);
    const state = () => page.locator("#state").textContent();
    await expect.poll(state, SOON).toBe("Connected");

    await expect.poll(state, SOON).toBe("Asleep until you write");
    await page.locator("#text:enabled").fill("hello from a page");
    await page.keyboard.press("Enter");
    await expect
      .poll(() => page.locator("article:not(.own)").last().textContent(), SOON)
      .toContain("hello from a page");
  },
);
