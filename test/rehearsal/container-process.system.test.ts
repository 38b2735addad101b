import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ContainerProcess } from "../../rehearsal/cloudflare/runner/process.ts";
import { runs } from "../support/measure.ts";

test("with a container goes what its command has started in a group of its own, and the folder", async () => {
  const home = await mkdtemp(join(tmpdir(), "steward-process-"));
  onTestFinished(() => rm(home, { recursive: true }));
  const dir = join(home, "container");
  const told = Promise.withResolvers<string>();
  const container = new ContainerProcess({
    command: ["/bin/sh", "-c", "setsid sh -c 'echo $$; sleep 300' & sleep 300"],
    dir,
    env: { PATH: process.env["PATH"] ?? "" },
    onLine: told.resolve,
  });
  const child = Number(await told.promise);
  expect(runs(child)).toBe(true);

  container.signal(15);

  expect(await container.ended).toBe(143);
  await expect.poll(() => runs(child)).toBe(false);
  expect(existsSync(dir)).toBe(false);
});
