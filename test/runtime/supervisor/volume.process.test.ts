import { expect, test } from "vitest";
import { VolumeWatch } from "../../../runtime/supervisor/volume.ts";
import { eventually, temporaryDirectory } from "../support/processes.ts";

/** Timers that only note what waits. */
function timers() {
  const waiting = new Set<() => void>();
  return {
    waiting,
    now: () => 0,
    after: (_ms: number, run: () => void) => {
      waiting.add(run);
      return () => void waiting.delete(run);
    },
  };
}

test("however many find that nothing can be written, one look follows the other", async () => {
  const clock = timers();
  const watch = new VolumeWatch(await temporaryDirectory(), { timers: clock, onChange: () => {} });
  watch.check();
  expect(clock.waiting.size).toBe(0);
  watch.start();
  for (let count = 0; count < 100; count += 1) watch.check();
  await eventually(() => clock.waiting.size > 0);
  for (let count = 0; count < 100; count += 1) watch.check();
  expect(clock.waiting.size).toBe(0);
  await eventually(() => clock.waiting.size > 0);

  expect(clock.waiting.size).toBe(1);
  watch.stop();
  watch.check();
  expect(clock.waiting.size).toBe(0);
});

test("a folder that is gone says nothing of its volume", async () => {
  const clock = timers();
  const home = await temporaryDirectory();
  const watch = new VolumeWatch(`${home}/gone`, { timers: clock, onChange: () => expect.fail("changed") });
  watch.start();
  await eventually(() => clock.waiting.size > 0);

  expect(watch.reason).toBeUndefined();
  watch.stop();
});
