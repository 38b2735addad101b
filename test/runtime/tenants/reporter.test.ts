import { expect, test } from "vitest";
import { TenantReporter } from "../../../runtime/edge/tenants/reporter.ts";
import { createLog } from "../../../runtime/shared/log.ts";
import type { TenantReport } from "../../../runtime/edge/tenants/ports.ts";

const COUNTS = { waiting: 0, delivering: 0, answered: 0, ignored: 0, failed: 0 };

function stage() {
  const world = { now: 0, running: false, sent: [] as boolean[] };
  const reporter = new TenantReporter({
    tenant: "slack-C1",
    read: async (): Promise<TenantReport> => ({
      running: world.running,
      version: "0.1.0",
      counts: COUNTS,
      usedAt: "",
    }),
    send: async (_tenant, { running }) => void world.sent.push(running),
    clock: () => world.now,
    log: createLog({ name: "test", level: "error", redact: (text) => text, write: () => {} }),
  });
  return { world, reporter };
}

test("use is reported once a minute", async () => {
  const { world, reporter } = stage();
  expect(reporter.dueAt(world.now)).toBe(0);
  await reporter.report();
  expect(reporter.dueAt(world.now)).toBeUndefined();
  world.now = 1_000;
  reporter.touch();
  expect(reporter.dueAt(world.now)).toBe(60_000);
});

test("a start is reported at once, although a report has said a moment ago that nothing runs", async () => {
  const { world, reporter } = stage();
  await reporter.report();
  world.now = 1_000;
  world.running = true;
  reporter.runChanged();
  expect(reporter.dueAt(world.now)).toBe(1_000);
  await reporter.report();
  expect(world.sent).toEqual([false, true]);
  reporter.touch();
  expect(reporter.dueAt(world.now)).toBe(61_000);
});
