import { afterEach, describe, expect, it } from "vitest";
import { mention } from "../../rehearsal/standins/slack.ts";
import { identityGateway } from "../support/identity-gateway.ts";
import { environsOf, startWorker } from "../support/worker.ts";

const CHALLENGE = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ type: "url_verification", challenge: "abc" }),
};

let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
  stop = undefined;
});
async function worker(variables?: Record<string, string>) {
  const service = await startWorker(variables);
  stop = service.stop;
  return service;
}

describe("the Worker in workerd", () => {
  it("answers an event whose container and object were lost before the reply", async () => {
    const { postSlack, slack, restart } = await worker();
    expect((await postSlack(mention("do not lose me"))).status).toBe(503);
    await restart();
    const reply = await slack.waitFor(() => true, 90_000);
    expect(reply.text).toContain("do not lose me");
  }, 120_000);

  it("runs a command of the operator's in a container that it has to start first", async () => {
    const { variables, headers } = await identityGateway();
    const { request, state } = await worker(variables);
    expect((await request("/debug/cli?cmd=devices%20list")).status).toBe(403);
    expect((await request("/debug/cli?cmd=rm", { headers })).status).toBe(400);
    expect(await state()).toBe("stopped");
    expect(await (await request("/debug/cli?cmd=devices%20list", { headers })).json()).toEqual({
      command: "devices list",
      exitCode: 0,
      stdout: "No device pairing entries.\n",
      stderr: "",
    });
  });

  it("gives its container passes in place of keys, and each start another one", async () => {
    const { postSlack, slack, inState, secrets, containers, endContainer } = await worker();
    const passes = new Set<string>();
    for (const text of ["first", "second"]) {
      await postSlack(mention(text));
      await slack.waitFor((message) => message.text.includes(text), 60_000);
      const environs = await environsOf(containers);
      expect(environs.length).toBeGreaterThanOrEqual(2);
      const seen = environs.join("\n");
      expect(seen).toContain("STEWARD_BROKER_URL=http://127.0.0.1:");
      expect(Object.values(secrets).filter((key) => seen.includes(key))).toEqual([]);
      passes.add(/\0SLACK_BOT_TOKEN=([^\0]+)/.exec(seen)?.[1] ?? "");
      await endContainer();
      await inState("stopped");
    }
    expect(passes.size).toBe(2);
  }, 120_000);

  it("goes to sleep without traffic, wakes for an event, and lets strangers wake it three times an hour", async () => {
    const { postSlack, slack, inState, request } = await worker({ SANDBOX_SLEEP_AFTER: "4s" });
    await postSlack(mention("first"));
    await slack.waitFor(() => true, 60_000);
    await inState("stopped");
    for (const granted of [true, true, true, false]) {
      const home = await request("/");
      expect([home.status, home.headers.get("retry-after")]).toEqual([502, granted ? "2" : "600"]);
      if (granted) {
        await inState("ready");
        await inState("stopped");
      }
    }
    await postSlack(mention("second"));
    await slack.waitFor(({ text }) => text.includes("second"), 60_000);
  }, 240_000);

  it("goes to sleep although its figures and its log are read all the time", async () => {
    const { variables, headers } = await identityGateway();
    const { postSlack, slack, request } = await worker({
      ...variables,
      SANDBOX_SLEEP_AFTER: "4s",
      STEWARD_BUNDLE: "0123456789abcdef",
    });
    await postSlack(mention("count me"));
    await slack.waitFor(() => true, 60_000);
    expect(await (await request("/debug/version", { headers })).json()).toMatchObject({
      bundle: "0123456789abcdef",
      container: expect.stringMatching(/^([0-9a-f]{16}|source)$/),
    });
    const read = async () => {
      await request("/debug/logs", { headers });
      return (await request("/metrics", { headers })).text();
    };
    expect(await (await request("/debug/logs", { headers })).text()).toContain("gateway ready");
    await expect.poll(read).toContain('steward_ledger_entries{state="answered"} 1\n');
    await expect.poll(read, { timeout: 60_000 }).toContain('steward_sandbox_state{state="stopped"} 1\n');
    expect(await read()).toContain("steward_cold_start_seconds");
    expect(await (await request("/debug/logs", { headers })).json()).toEqual({ state: "stopped", lines: [] });
  }, 180_000);

  it("starts the container anew when a new version brings other variables", async () => {
    const { postSlack, slack, inState, deploy, request } = await worker({
      ANTHROPIC_API_KEY: "sk-ant-wrong-0123456789",
    });
    await postSlack(mention("with the wrong key"));
    const refusal = await slack.waitFor(() => true, 60_000);
    expect(refusal.text).toContain("Invalid API key provided");
    await inState("ready");
    await deploy({ ANTHROPIC_API_KEY: "sk-ant-test-0123456789abcdef" });
    await request("/");
    await inState("ready");
    await postSlack(mention("with the right key"));
    const reply = await slack.waitFor(({ text }) => text.includes("with the right key"), 60_000);
    expect(reply.text).toContain("The stand-in model read");
  }, 120_000);

  it("sleeps after a new version took back `never`", async () => {
    const { postSlack, slack, inState, deploy, state } = await worker({ SANDBOX_SLEEP_AFTER: "never" });
    await postSlack(mention("stay awake"));
    await slack.waitFor(() => true, 60_000);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(await state()).toBe("ready");
    await deploy({ SANDBOX_SLEEP_AFTER: "1s" });
    await inState("stopped");
  });

  it("lets a container sleep whose gateway cannot start, even with an event that waits", async () => {
    const { postSlack, inState } = await worker({ TELEGRAM_DM_POLICY: "open", SANDBOX_SLEEP_AFTER: "1s" });
    expect((await postSlack(mention("hello?"))).status).toBe(503);
    await inState("crash-looping");
    await inState("stopped");
  });

  it("gives up on a container that ends before it answers, and tells why", async () => {
    const { postSlack, request, starts } = await worker({ LOG_LEVEL: "verbose" });
    await postSlack(mention("hello?"));
    await expect
      .poll(async () => ((await (await request("/")).json()) as { code: string }).code, { timeout: 60_000 })
      .toBe("crash_looping");
    const before = starts();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(starts() - before).toBeLessThan(10);
  });

  it("says what is not configured, and answers 401 with PUBLIC_WEBHOOKS=false", async () => {
    const { request, postSlack } = await worker({ PUBLIC_WEBHOOKS: "false" });
    const admin = await request("/_admin/");
    expect(admin.status).toBe(500);
    expect(await admin.json()).toMatchObject({ detail: "EDGE_ACCESS_AUD is not configured" });
    expect((await request("/slack/events", CHALLENGE)).status).toBe(401);
    expect((await postSlack(mention("anyone?"))).status).toBe(401);
  });

  it("tells clients apart by the address that Cloudflare gives", async () => {
    const service = await worker();
    await service.ready();
    const { request } = service;
    const forge = async (address: string): Promise<number> => {
      const headers = { "cf-connecting-ip": address };
      const response = await request("/telegram-webhook", { method: "POST", body: "forged", headers });
      await response.text();
      return response.status;
    };
    const flood = () => Promise.all(Array.from({ length: 50 }, () => forge("192.0.2.1")));
    await expect.poll(flood, { interval: 1, timeout: 30_000 }).toContain(429);
    expect(await forge("192.0.2.2")).toBe(415);
  });

  it("names a wrong variable on every route", async () => {
    const { request } = await worker({ SANDBOX_SLEEP_AFTER: "soon" });
    const home = await request("/");
    expect(home.status).toBe(500);
    expect(home.headers.get("x-content-type-options")).toBe("nosniff");
    const problem = (await home.json()) as { code: string; detail: string };
    expect(problem.code).toBe("environment_invalid");
    expect(problem.detail).toContain("SANDBOX_SLEEP_AFTER");
  });
});
