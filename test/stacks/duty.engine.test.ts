import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readDuty } from "../../infra/serverless/duty.ts";
import { DUTY_KEY, type DutyRecord } from "../../runtime/contract/duty.ts";
import { ACCOUNT, TOKEN } from "../rehearsal/support.ts";
import { startServerlessStage, type ServerlessStage } from "../support/serverless-stack.ts";
import { ENGINE_MS, UPDATE_MS, type TestStack } from "../support/stack.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NO_BUCKETS = "may-do-all-but-buckets".padEnd(40, "x");

/** What a container leaves that is awake so many hours of each day, measured until now. */
function recordOf(hours: number, { days = 12, changes = {} as Partial<DutyRecord> } = {}): DutyRecord {
  const now = Date.now();
  const names = Array.from({ length: days }, (_, ago) =>
    new Date(now - ago * DAY).toISOString().slice(0, 10),
  );
  const each = { awakeMs: hours * HOUR, starts: 9 };
  return {
    version: 1,
    since: new Date(now - days * DAY).toISOString(),
    at: new Date(now).toISOString(),
    asleep: false,
    sleepAfterMs: 600_000,
    days: Object.fromEntries(names.map((name) => [name, each])),
    ...changes,
  };
}

describe("how long the deployed container is awake", () => {
  let world: ServerlessStage;
  let subject: TestStack;

  beforeAll(async () => {
    world = await startServerlessStage({
      [NO_BUCKETS]: ["workers:edit", "containers:edit", "access:edit"],
    });
    subject = await world.stack();
    await subject.stack.up();
  }, ENGINE_MS);

  afterAll(() => world?.close(), UPDATE_MS);

  async function store(content: unknown): Promise<void> {
    const { url } = world.stage.cloudflare;
    const object = `${url}/accounts/${ACCOUNT}/r2/buckets/test-steward/objects/${DUTY_KEY}`;
    const body = typeof content === "string" ? content : JSON.stringify(content);
    const response = await fetch(object, {
      method: "PUT",
      headers: { authorization: `Bearer ${TOKEN}` },
      body,
    });
    expect(response.status).toBe(200);
  }

  const preview = async () => {
    const { stdout, changeSummary } = await subject.stack.preview();
    const line = stdout.split("\n").find((one) => one.includes("Estimated cost")) ?? "";
    return { line, changes: Object.keys(changeSummary) };
  };

  test(
    "is expected while nothing has been measured, and said to be",
    async () => {
      const { line, changes } = await preview();

      expect(line).toContain(
        "(lite, sleepAfter 10m, awake 2 h a day as expected), as deployed. Not measured: ",
      );
      expect(line).toContain("nothing has run yet");
      expect(changes).toEqual(["same"]);
    },
    UPDATE_MS,
  );

  test(
    "is shown once it was measured for a day, kept once, and told where it moves a little",
    async () => {
      await store(recordOf(3.4));
      const first = await preview();
      expect(first.line).toContain(
        "Estimated cost: about $5.01 a month (lite, sleepAfter 10m, awake 3.4 h a day as measured over 12 days), as deployed",
      );
      const update = await subject.stack.up();
      expect(update.summary.resourceChanges).toMatchObject({ update: 1 });
      expect(update.outputs["cost"]?.value).toContain("awake 3.4 h a day as measured over 12 days");

      await store(recordOf(4, { days: 13 }));
      const second = await preview();
      expect(second.line).toContain("awake 4 h a day as measured over 13 days), as deployed");
      expect(second.changes).toEqual(["same"]);
      expect((await subject.stack.up()).outputs["cost"]?.value).toContain("awake 3.4 h a day");
    },
    UPDATE_MS,
  );

  test(
    "tells what a change would cost with it, and warns of a budget that it exceeds",
    async () => {
      await store(recordOf(20));
      await subject.stack.setConfig("steward:monthlyBudget", { value: "6" });
      const { stdout } = await subject.stack.preview();
      expect(stdout).toContain(
        "about $6.40 a month (lite, sleepAfter 10m, awake 20 h a day as measured over",
      );
      expect(stdout).toContain("costs about $6.40 a month, above steward:monthlyBudget ($6.00)");

      await subject.stack.removeConfig("steward:monthlyBudget");
      await subject.stack.setConfig("steward:sleepAfter", { value: "never" });
      const { line } = await preview();
      expect(line).toContain(
        "(lite, sleepAfter never, awake 24 h a day), +$0.34 a month to what is deployed",
      );
      await subject.stack.setConfig("steward:sleepAfter", { value: "10m" });
    },
    UPDATE_MS,
  );

  test(
    "stays as it was last measured where nothing can be read, with the reason",
    async () => {
      await store("{}");
      const { line, changes } = await preview();
      expect(line).toContain("as measured over 12 days), as deployed. Not measured: steward/duty.json");
      expect(changes).toEqual(["same"]);
    },
    UPDATE_MS,
  );

  describe("cannot be told", () => {
    const read = (changes: Partial<Parameters<typeof readDuty>[0]> = {}) =>
      readDuty({
        accountId: ACCOUNT,
        apiToken: TOKEN,
        baseURL: world.stage.cloudflare.url,
        bucketName: "test-steward",
        now: Date.now(),
        ...changes,
      });

    test.each<[string, unknown, string]>([
      ["where the object is no JSON", "not JSON", "none that this version reads"],
      ["where a later version wrote it", { ...recordOf(3), version: 2 }, "none that this version reads"],
      ["where a time is none", recordOf(3, { changes: { at: "yesterday" } }), "none that this version reads"],
      [
        "after less than a day",
        recordOf(3, { changes: { since: new Date(Date.now() - 5.5 * HOUR).toISOString() } }),
        "it takes 24 hours, and there are 5",
      ],
      [
        "by a container that never sleeps",
        recordOf(24, { changes: { sleepAfterMs: null } }),
        "the deployed container never sleeps",
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

  test("counts the days asleep since the record, and the last 30 alone", async () => {
    const from = { accountId: ACCOUNT, apiToken: TOKEN, baseURL: world.stage.cloudflare.url };
    const at = (daysOn: number) =>
      readDuty({ ...from, bucketName: "test-steward", now: Date.now() + daysOn * DAY });
    await store(recordOf(4, { days: 4, changes: { asleep: true } }));

    expect(await at(0)).toMatchObject({ measured: { awakeHours: 4 } });
    expect((await at(4)).measured?.awakeHours).toBeCloseTo(2, 1);
    expect(await at(60)).toMatchObject({ measured: { awakeHours: 0, startsADay: 0 } });
    await store(recordOf(4, { days: 4 }));
    expect(await at(60)).toMatchObject({ measured: { awakeHours: 4 } });
  });
});
