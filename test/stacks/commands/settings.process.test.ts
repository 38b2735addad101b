import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProcess } from "../../../infra/shell/process.ts";

/** The commands that read a stack's settings file alone: on the shipped examples, without a CLI or a backend. */
let out: string;

beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), "steward-settings-"));
});
afterAll(() => rm(out, { recursive: true, force: true }));

function command(script: string, ...words: string[]) {
  return runProcess(process.execPath, [`stacks/commands/${script}.ts`, ...words], {
    env: { ...process.env, PATH: "" },
  });
}

test("slack-manifest refuses the example's address, and names what to set", async () => {
  const { code, stdout, stderr } = await command("slack-manifest", "dev", "--out", join(out, "app.json"));
  expect(code, stderr).toBe(1);
  expect(stdout).toBe("");
  expect(stderr).toContain("stack_config_invalid");
  expect(stderr).toContain("steward:subdomain: still has the example's value");
  expect(stderr).toContain("pulumi config set -s dev steward:subdomain");
  expect(await readdir(out)).toEqual([]);
});

test("slack-manifest asks for the address of a host stack", async () => {
  const { code, stderr } = await command("slack-manifest", "host");
  expect(code, stderr).toBe(1);
  expect(stderr).toContain("public_address_missing");
  expect(stderr).toContain("npm run slack-manifest -- host --url <https address>");
});

test("compose refuses a serverless stack, and writes nothing", async () => {
  const { code, stdout, stderr } = await command("compose", "dev", "--out", join(out, "compose"));
  expect(code, stderr).toBe(1);
  expect(stdout).toBe("");
  expect(stderr).toContain("stack_not_host");
  expect(stderr).toContain("steward:target of dev is serverless");
  expect(await readdir(out)).toEqual([]);
});
