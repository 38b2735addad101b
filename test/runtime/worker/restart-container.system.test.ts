import { describe, expect, test } from "vitest";
import { sandboxObjects, type Seen } from "../../support/sandbox-object.ts";

const MINUTE = 60_000;
const BROKEN = '{"broken":true}';
const FRESH = '{"fresh":true}';
const CONFIG = "steward/steward.json";
const EVENT = {
  id: "E1",
  platform: "slack",
  conversation: "T1:C1",
  receivedAt: Date.now(),
  payload: { event: { type: "app_mention", channel: "C1", user: "U1", ts: "1.1", text: "hi" } },
};

/** A container that is ready, with its config in the bucket. */
async function ready(variables: Record<string, string> = {}) {
  const objects = await sandboxObjects(variables);
  const { one, bucket } = objects;
  await one.do("wake");
  await one.do("write", { messages: 3, config: '{"mine":true}' });
  await one.do("call", "create", []);
  const keys = await bucket.do<string[]>("list");
  return {
    ...objects,
    seen: () => one.do<Seen>("seen"),
    config: async () => (await one.do<{ config: string }>("data")).config,
    deleteCached: async () => {
      for (const key of keys.filter((name) => !name.includes("generations"))) await bucket.do("delete", key);
    },
  };
}

describe("a restart takes what the bucket has", () => {
  test("both cached objects deleted: a fresh config, and the messages stay", async () => {
    const { one, config, deleteCached, seen } = await ready();
    await one.do("write", { messages: 4, config: BROKEN });
    await deleteCached();
    await one.do("restart");
    await one.do("wake");
    expect(await config()).toBe(FRESH);
    expect(await one.do("data")).toMatchObject({ messages: 4 });
    expect((await seen()).starts).toBe(2);
  });

  test("a config put there by hand is taken", async () => {
    const { one, bucket, config } = await ready();
    await bucket.do("put", CONFIG, '{"byHand":true}');
    await one.do("restart");
    await one.do("wake");
    expect(await config()).toBe('{"byHand":true}');
  });

  test("so is one that was put there before the last backup, which left it alone", async () => {
    const { one, bucket, config } = await ready();
    await bucket.do("put", CONFIG, '{"byHand":true}');
    await one.do("write", { messages: 4 });
    await one.do("call", "create", []);
    await one.do("restart");
    await one.do("wake");
    expect(await config()).toBe('{"byHand":true}');
    expect(await one.do("data")).toMatchObject({ messages: 4 });
  });

  test("unchanged, the gateway alone is restarted", async () => {
    const { one, seen } = await ready();
    await one.do("restart");
    expect(await seen()).toMatchObject({ starts: 1, running: true });
    expect((await seen()).calls).toContain("POST /restart");
  });

  test("a state that cannot be copied is not given up for it", async () => {
    const { one, deleteCached, seen } = await ready();
    await one.do("write", { messages: 9 });
    await deleteCached();
    await one.do("fail", { bucket: ["put"] });
    expect(await one.do("restart")).toBe("backup_failed");
    expect(await seen()).toMatchObject({ starts: 1, running: true });
  });

  test("a deployment and an event take it too, for a gateway that its config has stopped", async () => {
    const deployed = await ready();
    await deployed.one.do("write", { config: BROKEN });
    await deployed.deleteCached();
    await deployed.one.do("deploy", {}).catch(() => undefined);
    await deployed.one.do("wake");
    expect(await deployed.config()).toBe(FRESH);

    const visited = await ready();
    await visited.one.do("write", { config: BROKEN });
    await visited.one.do("skip", 2_000);
    expect(await visited.one.do("status")).toMatchObject({ state: "crash-looping" });
    await visited.deleteCached();
    // A stranger's visit does nothing to a gateway that is stopped.
    await visited.one.do("begin");
    await visited.one.do("skip", 2_000);
    expect(await visited.one.do("status")).toMatchObject({ state: "crash-looping" });
    await visited.one.do("operate");
    await expect.poll(visited.config).toBe(FRESH);
  });
});

describe("a container that is to run always", () => {
  const NEVER = { SANDBOX_SLEEP_AFTER: "never" };
  const running = async (one: Awaited<ReturnType<typeof ready>>["one"]) =>
    (await one.do<Seen>("seen")).running;

  test("starts at its deployment, when the probe asks how it is", async () => {
    const { one } = await sandboxObjects(NEVER);
    expect(await one.do("status")).toMatchObject({ state: "stopped" });
    await one.do("pass", 2_000);
    expect(await running(one)).toBe(true);
  });

  test("starts again after any end, also with another variable, and visits have no part in it", async () => {
    const { one, seen } = await ready(NEVER);
    for (const starts of [2, 3, 4, 5, 6]) {
      await one.do("end");
      await expect.poll(() => running(one)).toBe(false);
      await one.do("pass", 2 * MINUTE);
      expect([starts, await seen()]).toMatchObject([starts, { running: true, starts }]);
    }
    await one.do("deploy", { ...NEVER, LOG_LEVEL: "debug" }).catch(() => undefined);
    await one.do("status");
    await expect.poll(() => running(one)).toBe(false);
    await one.do("pass", 2 * MINUTE);
    expect(await seen()).toMatchObject({ running: true, starts: 7 });
  });

  test("one that sleeps is left alone", async () => {
    const { one, seen } = await ready();
    await one.do("end");
    await one.do("pass", 60 * MINUTE);
    expect(await seen()).toMatchObject({ running: false, starts: 1 });
  });
});

test("a config that is asked for while the container sleeps is read after the restore", async () => {
  const { one } = await ready();
  await one.do("pass", 20 * MINUTE);
  expect((await one.do<Seen>("seen")).running).toBe(false);
  expect(await one.do("read", "/config-file")).toMatchObject({ text: '{"mine":true}' });
});

test("an operator wakes it as often as they come, a visitor three times an hour", async () => {
  const { one, seen } = await ready();
  const wakes: unknown[] = [];
  for (const who of ["begin", "begin", "begin", "operate"]) {
    await one.do("end");
    await expect.poll(async () => (await seen()).running).toBe(false);
    const woken = await one.do(who);
    wakes.push(woken);
    // A start that is under way would begin again by itself.
    const state = woken === true ? "ready" : "stopped";
    await expect.poll(() => one.do("status")).toMatchObject({ state });
  }
  expect(wakes).toEqual([true, true, false, true]);
});

describe("a chat's running container follows the deployment's config", () => {
  const CHAT = { TENANCY: "chat", PUBLIC_ORIGIN: "https://bot.example" };

  test("without a restart; a broken one it refuses and says so", async () => {
    const { chat, bucket } = await sandboxObjects(CHAT);
    await bucket.do("put", CONFIG, '{"one":true}');
    await chat.do("admit", EVENT);
    await chat.do("wake");
    expect(await chat.do("data")).toMatchObject({ config: '{"one":true}' });

    await bucket.do("put", CONFIG, '{"two":true}');
    await chat.do("pass", 3 * MINUTE);
    expect(await chat.do("data")).toMatchObject({ config: '{"two":true}' });

    await bucket.do("put", CONFIG, BROKEN);
    await chat.do("pass", 3 * MINUTE);
    expect(await chat.do("data")).toMatchObject({ config: '{"two":true}' });
    await chat.do("admit", { ...EVENT, id: "E2" });
    await chat.do("pass", 2 * MINUTE);
    expect(await chat.do<Seen>("seen")).toMatchObject({
      starts: 1,
      running: true,
      reported: { code: "config_invalid" },
    });
  });
});
