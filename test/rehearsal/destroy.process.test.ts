import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProcess } from "../../infra/shell/process.ts";

let parent: string;
let dir: string;
let cache: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "steward-destroy-"));
  dir = join(parent, "rehearsal");
  cache = join(parent, "cache");
  await mkdir(dir);
});
afterEach(() => rm(parent, { recursive: true, force: true }));

/** Runs it on a machine that has no Go, no Pulumi, no Docker and nothing in its cache. */
async function destroy(): Promise<string> {
  const env = { ...process.env, PATH: "", XDG_CACHE_HOME: cache };
  const words = ["rehearsal/start.ts", "--destroy", "--dir", dir];
  const { code, stdout, stderr } = await runProcess(process.execPath, words, { env });
  expect(code, stderr).toBe(0);
  expect(stdout + stderr).not.toMatch(/build|engine|Go\b/);
  expect(existsSync(join(cache, "steward/engine"))).toBe(false);
  expect(existsSync(dir)).toBe(false);
  return stdout;
}

test("`npm start -- --destroy` in an empty folder has nothing to do, and builds nothing", async () => {
  expect(await destroy()).toBe("");
});

test.each(["serverless", "host"])(
  "what was left of a %s stack before its first update goes without an engine",
  async (target) => {
    await mkdir(join(dir, target, "state"), { recursive: true });
    expect(await destroy()).toContain(`Removing the rehearsed ${target} stack`);
  },
);
