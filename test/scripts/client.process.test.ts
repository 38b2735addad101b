import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";

const SCRIPT = path.resolve("scripts/client.ts");

test("the pages' assets are there all the time while they are bundled again, twice at once", async () => {
  const cwd = await mkdtemp(path.join(tmpdir(), "steward-client-"));
  onTestFinished(() => rm(cwd, { recursive: true }));
  const folder = path.join(cwd, "dist/assets");
  const start = () => spawn(process.execPath, [SCRIPT], { cwd, stdio: ["ignore", "ignore", "inherit"] });
  await once(start(), "exit");
  const names = await readdir(folder);
  expect(names).toContain("console.css.gz");
  await writeFile(path.join(folder, "former.js.gz"), "");

  const running = [start(), start()];
  const ended = Promise.all(running.map((child) => once(child, "exit")));
  const missing = new Set<string>();
  while (running.some(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
    for (const name of names) if (!existsSync(path.join(folder, name))) missing.add(name);
    await turn();
  }

  expect(await ended).toEqual([
    [0, null],
    [0, null],
  ]);
  expect([...missing]).toEqual([]);
  expect((await readdir(folder)).sort()).toEqual(names.sort());
});
