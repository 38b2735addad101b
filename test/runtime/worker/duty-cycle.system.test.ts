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

/** Minutes awake and starts, over all days. */
async function totals({ record }: Subject): Promise<{ awake: number; starts: number }> {
  const days = Object.values((await record()).days);
  const sum = (member: "awakeMs" | "starts") => days.reduce((total, day) => total + day[member], 0);
  return { awake: sum("awakeMs") / MINUTE, starts: sum("starts") };
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

test("a run over midnight UTC is parted between its days, and old days are dropped", async () => {
  const subject = await deployed({ SANDBOX_SLEEP_AFTER: "2h" });
  const midnight = Math.ceil(Date.now() / DAY) * DAY;
  await subject.skip(midnight - HOUR - Date.now());
  const [first, second] = [subject.now(), subject.now() + DAY].map((time) =>
    new Date(time).toISOString().slice(0, 10),
  );
  await subject.one.do("wake");
  await subject.evict();
  await subject.skip(90 * MINUTE);
  await subject.pass(90 * MINUTE);
  const { days } = await subject.record();
  expect(Object.keys(days)).toEqual([first, second]);
  const [before, after] = Object.values(days);
  about((after?.awakeMs ?? 0) / MINUTE, 60);
  expect(before).toMatchObject({ starts: 1 });
  expect((before?.awakeMs ?? 0) / MINUTE).toBeGreaterThan(60 - SLACK / MINUTE);
  expect((before?.awakeMs ?? 0) / MINUTE).toBeLessThanOrEqual(60.1);

  await subject.pass(29 * DAY);
  await subject.one.do("wake");
  await subject.pass(3 * HOUR);
  expect(Object.keys((await subject.record()).days)).not.toContain(first);
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
