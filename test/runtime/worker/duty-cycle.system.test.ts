import { expect, test } from "vitest";
import type { SandboxStatus } from "../../../runtime/contract/control.ts";
import { DUTY_KEY, dutyRecord } from "../../../runtime/contract/duty.ts";
import { sandboxObjects, type Seen } from "../../support/sandbox-object.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** A machine may be slow, and its clock goes on beside the one that the test moves. */
const SLACK = 2 * MINUTE;

async function deployed(variables?: Record<string, string>) {
  const { one, bucket } = await sandboxObjects(variables);
  let ahead = 0;
  const forward = (how: "pass" | "skip") => async (ms: number) => {
    ahead += ms;
    await one.do(how, ms);
  };
  return {
    one,
    bucket,
    pass: forward("pass"),
    skip: forward("skip"),
    now: () => Date.now() + ahead,
    evict: () => one.do("evict").catch(() => undefined),
    record: async () => dutyRecord.parse(JSON.parse((await bucket.do<string>("text", DUTY_KEY)) ?? "{}")),
    puts: async () => (await one.do<Seen>("seen")).stored.filter((call) => call === `put ${DUTY_KEY}`).length,
  };
}

type Subject = Awaited<ReturnType<typeof deployed>>;

/** Minutes awake, and starts. */
async function totals({ record }: Subject): Promise<{ awake: number; starts: number }> {
  const { awakeMs, starts } = await record();
  return { awake: awakeMs / MINUTE, starts };
}

const about = (minutes: number, expected: number): void => {
  expect(minutes).toBeGreaterThanOrEqual(expected - 0.1);
  expect(minutes).toBeLessThan(expected + SLACK / MINUTE);
};

test("a container that never ran leaves nothing in the bucket", async () => {
  const subject = await deployed();
  await subject.one.do("status");
  await subject.pass(DAY);
  expect(await subject.bucket.do("list")).toEqual([]);
});

test("each run counts from its start to its end, and the record says when it sleeps", async () => {
  const subject = await deployed();
  await subject.one.do("wake");
  await subject.pass(4 * MINUTE);
  expect(await subject.record()).toMatchObject({ asleep: false, sleepAfterMs: 10 * MINUTE });
  await subject.pass(8 * MINUTE);
  expect(await subject.record()).toMatchObject({ asleep: true });
  about((await totals(subject)).awake, 10);

  await subject.pass(2 * HOUR);
  await subject.one.do("wake");
  await subject.pass(3 * MINUTE);
  await subject.one.do("end");
  await expect.poll(async () => (await subject.record()).asleep).toBe(true);
  const { awake, starts } = await totals(subject);
  about(awake, 13);
  expect(starts).toBe(2);

  await subject.pass(DAY);
  const { duty } = await subject.one.do<SandboxStatus>("status");
  expect(duty?.measuredHours).toBeCloseTo(26.25, 0);
  expect(duty?.awakeHours).toBeCloseTo((13 / 60 / 26.25) * 24, 1);
});

test("an object that is evicted while its container runs goes on counting, also what it did not see", async () => {
  const subject = await deployed({ SANDBOX_SLEEP_AFTER: "3h" });
  await subject.one.do("wake");
  for (let run = 0; run < 3; run += 1) {
    await subject.pass(20 * MINUTE);
    await subject.evict();
    await subject.skip(20 * MINUTE);
  }
  await subject.pass(HOUR + 5 * MINUTE);
  expect(await subject.one.do<Seen>("seen")).toMatchObject({ running: false, starts: 1 });
  const { awake, starts } = await totals(subject);
  about(awake, 180);
  expect(starts).toBe(1);
});

test("a container that ends while no object sees it counts until it was last seen", async () => {
  const subject = await deployed();
  await subject.one.do("wake");
  await subject.pass(5 * MINUTE);
  await subject.one.do("lose").catch(() => undefined);
  await subject.skip(5 * HOUR);
  await subject.one.do("wake");
  await subject.pass(11 * MINUTE);
  const { awake, starts } = await totals(subject);
  expect(awake).toBeGreaterThan(12);
  expect(awake).toBeLessThan(20);
  expect(starts).toBe(2);
});

test("after a month, what was measured counts half, so the averages follow the use", async () => {
  const subject = await deployed();
  await subject.one.do("wake");
  await subject.pass(11 * MINUTE);
  const { since } = await subject.record();
  await subject.skip(31 * DAY);
  await subject.one.do("wake");
  await subject.pass(11 * MINUTE);

  const halved = await subject.record();
  expect((Date.parse(halved.at) - Date.parse(since)) / DAY).toBeCloseTo(31, 0);
  expect((Date.parse(halved.at) - Date.parse(halved.since)) / DAY).toBeCloseTo(15.5, 0);
  expect(halved.starts).toBe(1);
  // Of the two runs of 10 minutes, the first counts half, and so does the start of the second.
  expect((await totals(subject)).awake).toBeLessThan(17);
});

test("a container that never sleeps is told of once an hour", async () => {
  const subject = await deployed({ SANDBOX_SLEEP_AFTER: "never" });
  await subject.one.do("wake");
  await subject.pass(4 * HOUR - 5 * MINUTE);
  expect(await subject.puts()).toBe(4);
  expect(await subject.record()).toMatchObject({ asleep: false, sleepAfterMs: null });
});

test("a bucket that fails holds nothing up, and has the record once it works", async () => {
  const subject = await deployed();
  await subject.one.do("fail", { bucket: [`put ${DUTY_KEY}`] });
  await subject.one.do("wake");
  await subject.pass(11 * MINUTE);
  expect(await subject.one.do<Seen>("seen")).toMatchObject({ running: false });
  expect(await subject.bucket.do("text", DUTY_KEY)).toBeNull();

  await subject.one.do("fail", {});
  await subject.one.do("wake");
  await subject.pass(3 * MINUTE);
  about((await totals(subject)).awake, 12);
});

test("with another wait before its sleep it is measured anew, from the next run on", async () => {
  const subject = await deployed();
  await subject.one.do("wake");
  await subject.pass(11 * MINUTE);
  const before = await subject.record();
  await subject.one.do("deploy", { SANDBOX_SLEEP_AFTER: "30m" }).catch(() => undefined);
  await subject.one.do("status");
  expect(await subject.record()).toEqual(before);

  await subject.pass(HOUR);
  await subject.one.do("wake");
  await subject.pass(31 * MINUTE);
  const after = await subject.record();
  expect(after).toMatchObject({ asleep: true, sleepAfterMs: 30 * MINUTE });
  expect(Date.parse(after.since)).toBeGreaterThan(Date.parse(before.at));
  about((await totals(subject)).awake, 30);
});
