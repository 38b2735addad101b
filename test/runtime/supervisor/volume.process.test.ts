import { copyFileSync, renameSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../../runtime/process/database.ts";
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

test("a data directory that was removed is reported, and that it is back", async () => {
  const clock = timers();
  const home = join(await temporaryDirectory(), "gone");
  let changes = 0;
  const watch = new VolumeWatch(home, { timers: clock, onChange: () => void (changes += 1) });
  watch.start();
  await eventually(() => changes === 1);
  expect(watch.reason).toMatchObject({
    code: "data_directory_unwritable",
    detail: "The data directory cannot be written: ENOENT.",
  });

  await mkdir(home);
  watch.check();
  await eventually(() => changes === 2);
  expect(watch.reason).toBeUndefined();
  watch.stop();
});

test.each<[string, (file: string) => () => void, RegExp]>([
  [
    "another process has locked",
    (file) => {
      const other = new DatabaseSync(file);
      other.exec("BEGIN IMMEDIATE");
      return () => other.close();
    },
    /locked/,
  ],
  [
    "was moved away",
    (file) => {
      renameSync(file, `${file}-moved`);
      return () => renameSync(`${file}-moved`, file);
    },
    /removed or replaced/,
  ],
  [
    "was replaced by another",
    (file) => {
      renameSync(file, `${file}-moved`);
      copyFileSync(`${file}-moved`, file);
      return () => renameSync(`${file}-moved`, file);
    },
    /removed or replaced/,
  ],
])("reports a ledger whose file %s, and the end of that", async (_, spoil, detail) => {
  const clock = timers();
  const home = await temporaryDirectory();
  const file = join(home, "state.db");
  const database = openDatabase(file);
  onTestFinished(() => database.close());
  let changes = 0;
  const watch = new VolumeWatch(home, {
    timers: clock,
    ledgerProblem: () => database.problem(),
    onChange: () => void (changes += 1),
  });
  const mend = spoil(file);
  watch.start();
  await eventually(() => changes === 1);
  expect(watch.reason).toMatchObject({
    code: "ledger_unavailable",
    detail: expect.stringMatching(detail) as string,
  });

  mend();
  watch.check();
  await eventually(() => changes === 2);
  expect(watch.reason).toBeUndefined();
  watch.stop();
});
