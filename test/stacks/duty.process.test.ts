import * as pulumi from "@pulumi/pulumi";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { costEstimateProvider, type EstimateInputs } from "../../infra/serverless/cost-estimate.ts";
import { readDuty } from "../../infra/serverless/duty-reading.ts";
import { DUTY_KEY, type DutyRecord } from "../../runtime/contract/duty.ts";
import { ACCOUNT, startStage, TOKEN, type Stage } from "../rehearsal/support.ts";
import { program } from "../../stacks/program.ts";
import { registered } from "../support/registered.ts";
import { cloudflareConfig } from "../support/stack.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const { check, diff } = costEstimateProvider as Required<typeof costEstimateProvider>;
const NO_BUCKETS = "may-do-all-but-buckets".padEnd(40, "x");

/** What a container leaves that is awake so many hours of each day, measured until now. */
function recordOf(hours: number, { days = 12, changes = {} as Partial<DutyRecord> } = {}): DutyRecord {
  const now = Date.now();
  return {
    version: 2,
    since: new Date(now - days * DAY).toISOString(),
    at: new Date(now).toISOString(),
    asleep: false,
    sleepAfterMs: 600_000,
    awakeMs: days * hours * HOUR,
    starts: days * 9,
    ...changes,
  };
}

describe("how long the deployed container is awake", () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await startStage(undefined, {
      scopedTokens: { [NO_BUCKETS]: ["workers:edit", "containers:edit", "access:edit"] },
    });
    await stage.client.r2.buckets.create({ account_id: ACCOUNT, name: "test-steward" });
  });

  afterAll(() => stage?.close());

  async function store(content: unknown, key: string = DUTY_KEY): Promise<void> {
    const { url } = stage.cloudflare;
    const object = `${url}/accounts/${ACCOUNT}/r2/buckets/test-steward/objects/${key}`;
    const body = typeof content === "string" ? content : JSON.stringify(content);
    const response = await fetch(object, {
      method: "PUT",
      headers: { authorization: `Bearer ${TOKEN}` },
      body,
    });
    expect(response.status).toBe(200);
  }

  const read = (changes: Partial<Parameters<typeof readDuty>[0]> = {}) =>
    readDuty({
      accountId: ACCOUNT,
      apiToken: TOKEN,
      baseURL: stage.cloudflare.url,
      bucketName: "test-steward",
      now: Date.now(),
      ...changes,
    });

  /** What the estimate becomes in a preview, by what is measured now: its line, and whether it changes. */
  async function estimated(
    deployed: EstimateInputs,
    changes: Partial<EstimateInputs> = {},
  ): Promise<{ line: string; inputs: EstimateInputs; changed: boolean }> {
    const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const news = { instanceType: "lite", sleepAfter: "10m", duty: await read(), ...changes } as const;
    const inputs = (await check(deployed, news)) as EstimateInputs;
    const line = write.mock.calls.map(([text]) => String(text)).join("");
    write.mockRestore();
    const { changes: changed = false } = await diff("estimate", deployed, inputs);
    return { line, inputs, changed };
  }

  const NOTHING = {} as EstimateInputs;

  test("is expected while nothing has been measured, and said to be", async () => {
    const first = await estimated(NOTHING);
    const { line, changed } = await estimated(first.inputs);

    expect(line).toContain(
      "(lite, sleepAfter 10m, awake 2 h a day as expected), as deployed. Not measured: ",
    );
    expect(line).toContain("nothing has run yet");
    expect(changed).toBe(false);
  });

  test("is shown once it was measured for a day, and a little more changes nothing", async () => {
    const expectedOnly = await estimated(NOTHING);
    await store(recordOf(3.4));
    const first = await estimated(expectedOnly.inputs);
    expect(first.line).toContain(
      "Estimated cost: about $5.01 a month (lite, sleepAfter 10m, awake 3.4 h a day as measured over 12 days), as deployed",
    );
    expect(first.changed).toBe(true);
    expect(first.inputs.line).toContain("awake 3.4 h a day as measured over 12 days");

    await store(recordOf(4, { days: 13 }));
    const second = await estimated(first.inputs);
    expect(second.line).toContain("awake 4 h a day as measured over 13 days), as deployed");
    expect(second.changed).toBe(false);
    expect(second.inputs.line).toContain("awake 3.4 h a day");
  });

  test("tells what a change would cost with it", async () => {
    await store(recordOf(20));
    const deployed = await estimated(NOTHING);
    const { line } = await estimated(deployed.inputs, { sleepAfter: "never" });
    expect(line).toContain(
      "(lite, sleepAfter never, awake 24 h a day), +$0.34 a month compared with the deployed stack",
    );
  });

  test("is measured for a container that never sleeps too, and tells nothing then of one that does", async () => {
    await store(recordOf(23.5, { changes: { sleepAfterMs: null } }));
    const deployed = await estimated(NOTHING, { sleepAfter: "never" });
    expect(deployed.line).toContain("(lite, sleepAfter never, awake 23.5 h a day as measured over 12 days)");
    const { line } = await estimated(deployed.inputs);
    expect(line).toContain("awake 2 h a day as expected)");
    expect(line).toContain("Not measured: the deployed container never sleeps");
  });

  test("stays as it was last measured if nothing can be read, with the reason", async () => {
    await store(recordOf(3.4));
    const deployed = await estimated(NOTHING);
    await store("{}");
    const { line, changed } = await estimated(deployed.inputs);
    expect(line).toContain("as measured over 12 days), as deployed. Not measured: steward/duty.json");
    expect(changed).toBe(false);
  });

  /** What a program with these settings warns of. */
  async function warnings(settings: Record<string, { value: string }>): Promise<string> {
    const warn = vi.spyOn(pulumi.log, "warn").mockResolvedValue();
    await registered(program, {
      config: {
        ...cloudflareConfig(stage.cloudflare.url, TOKEN),
        "steward:target": { value: "serverless" },
        "steward:accountId": { value: ACCOUNT },
        "steward:subdomain": { value: "acme" },
        "steward:anthropicApiKey": { value: "sk-test-0123456789", secret: true },
        ...settings,
        // The provider chooses the default name, and there is none here.
        "steward:bucketName": { value: "test-steward" },
      },
    });
    const warned = warn.mock.calls.map(([text]) => text).join("\n");
    warn.mockRestore();
    return warned;
  }

  test("warns in the preview of a budget that it exceeds", async () => {
    await store(recordOf(20));
    const warned = await warnings({ "steward:monthlyBudget": { value: "6" } });
    expect(warned).toContain("costs about $6.40 a month, above steward:monthlyBudget ($6.00)");
  });

  test("is the sum of all containers, where each chat has its own", async () => {
    const chat = { maxSandboxes: 4 };
    const ofChats = async () => ({ ...chat, duty: await read({ isPerChat: true }) });
    // What one container for all chats was awake tells nothing of them.
    await store(recordOf(20));
    const before = await estimated(NOTHING);
    const first = await estimated(before.inputs, await ofChats());
    expect(first.line).toContain("about $0.0087 an hour for each container that is awake");
    expect(first.line).toMatch(/\. Not measured: nothing has run yet\s*$/);
    expect(first.changed).toBe(true);

    const short = recordOf(3, { changes: { since: new Date(Date.now() - 5 * HOUR).toISOString() } });
    await store(short, "steward/tenants/slack-C3/duty.json");
    expect(await read({ isPerChat: true })).toEqual({
      unmeasured: "24 hours of measurements are needed, and there are 5",
    });
    await store(recordOf(3), "steward/tenants/slack-C1/duty.json");
    await store(recordOf(4, { days: 6 }), "steward/tenants/telegram--100/duty.json");
    await store("not JSON", "steward/tenants/slack-C2/duty.json");
    await store(recordOf(9), "steward/tenants/slack-C1/workspace/duty.json");
    await store(
      recordOf(5, { changes: { sleepAfterMs: 1_000, asleep: true, at: short.since } }),
      "steward/tenants/web-d/duty.json",
    );
    const second = await estimated(first.inputs, await ofChats());
    expect(second.line).toContain(
      "(lite, sleepAfter 10m, 2 containers awake 7 h a day in all as measured over 12 days)",
    );
    expect(second.changed).toBe(true);
    expect((await estimated(second.inputs, await ofChats())).changed).toBe(false);
    // And back.
    expect((await estimated(second.inputs)).line).toMatch(
      /awake 20 h a day as measured over 12 days\), \+\$[\d.]+ a month compared with the deployed stack \(lite, sleepAfter 10m, 2 containers awake 7 h/,
    );
  });

  test("warns of the chats that exceed theirs", async () => {
    await store(recordOf(1), "steward/tenants/slack-C1/duty.json");
    await store(recordOf(12), "steward/tenants/slack-C2/duty.json");
    await store(recordOf(20), "steward/tenants/slack-C3/duty.json");
    const warned = await warnings({
      "steward:tenancy": { value: "chat" },
      "steward:monthlyChatBudget": { value: "2" },
    });
    expect(warned).toContain(
      "cost more a month than steward:monthlyChatBudget ($2.00): slack-C3 about $5.32, slack-C2 about $3.19.",
    );
  });

  test("is left out where there are more chats than a preview reads", async () => {
    const names = Array.from({ length: 101 }, (_, number) => `steward/tenants/discord-${number}/duty.json`);
    for (const name of names) await store(recordOf(1), name);
    expect(await read({ isPerChat: true })).toEqual({
      unmeasured: "there are too many chats for a preview to read",
    });
  });

  describe("cannot be told", () => {
    test.each<[string, unknown, string]>([
      ["where the object is no JSON", "not JSON", "a format that this version cannot read"],
      [
        "where a later version wrote it",
        { ...recordOf(3), version: 3 },
        "a format that this version cannot read",
      ],
      [
        "where a time is none",
        recordOf(3, { changes: { at: "yesterday" } }),
        "a format that this version cannot read",
      ],
      [
        "after less than a day",
        recordOf(3, { changes: { since: new Date(Date.now() - 5.5 * HOUR).toISOString() } }),
        "24 hours of measurements are needed, and there are 5",
      ],
    ])("%s", async (_where, content, reason) => {
      await store(content);
      const { measured, unmeasured } = await read();
      expect(measured).toBeUndefined();
      expect(unmeasured).toContain(reason);
    });

    test("where Cloudflare does not say, or does not answer", async () => {
      await store(recordOf(3));
      expect(await read({ bucketName: "no-such-bucket" })).toEqual({ unmeasured: "nothing has run yet" });
      expect(await read({ apiToken: NO_BUCKETS })).toEqual({ unmeasured: "Cloudflare answered 403" });
      expect(await read({ baseURL: "http://127.0.0.1:9" })).toEqual({ unmeasured: expect.any(String) });
      expect(await read()).toMatchObject({
        measured: { awakeHours: 3, startsADay: 9, sleepAfterMs: 600_000 },
      });
    });
  });

  test("counts the time asleep since the record", async () => {
    const from = { accountId: ACCOUNT, apiToken: TOKEN, baseURL: stage.cloudflare.url };
    const at = (daysOn: number) =>
      readDuty({ ...from, bucketName: "test-steward", now: Date.now() + daysOn * DAY });
    await store(recordOf(4, { days: 4, changes: { asleep: true } }));

    expect(await at(0)).toMatchObject({ measured: { awakeHours: 4 } });
    expect((await at(4)).measured?.awakeHours).toBeCloseTo(2, 1);
    await store(recordOf(4, { days: 4 }));
    expect(await at(60)).toMatchObject({ measured: { awakeHours: 4 } });
  });
});
