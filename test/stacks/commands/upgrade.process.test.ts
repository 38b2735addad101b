import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { withFileLock } from "../../../infra/shell/cache.ts";
import { runProcess } from "../../../infra/shell/process.ts";
import { upgrade } from "../../../stacks/commands/upgrade/upgrade.ts";
import { fixFor, waysOf } from "../../journeys/typed.ts";

/** Makes a project; by default one that has the package installed. */
async function projectOf(manifest: object, installed = true): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "steward-project-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(path.join(folder, "package.json"), JSON.stringify(manifest));
  if (!installed) return folder;
  const place = path.join(folder, "node_modules/steward-gateway");
  await mkdir(place, { recursive: true });
  await writeFile(path.join(place, "package.json"), JSON.stringify({ version: "0.1.0" }));
  return folder;
}

const DEPENDS = { dependencies: { "steward-gateway": "0.1.0" } };

test("in a checkout the command says whom it is for, and what a checkout does instead", async () => {
  const { code, stderr } = await runProcess(process.execPath, ["stacks/commands/upgrade.ts", "dev"]);
  expect(code).toBe(1);
  expect(stderr).toContain(
    "this folder is a checkout of steward itself, but an upgrade needs a project that depends on steward-gateway",
  );
  expect(waysOf(fixFor("upgrade_no_package", stderr))).toEqual([["npm ci", "npm run rollout -- dev"]]);
});

test("--check, --propose and --unattended exclude each other", async () => {
  const words = ["stacks/commands/upgrade.ts", "dev", "--check", "--unattended"];
  const { code, stderr } = await runProcess(process.execPath, words);
  expect(code).toBe(2);
  expect(stderr).toContain("give only one of --check, --propose and --unattended");
});

test.each([
  ["depends on it without having it", DEPENDS, false],
  ["has it without depending on it", { dependencies: {} }, true],
  ["is none", {}, false],
])("a project that %s is refused", async (_what, manifest, installed) => {
  const workDir = await projectOf(manifest, installed);
  await expect(upgrade("dev", { workDir })).rejects.toMatchObject({
    code: "upgrade_no_package",
    fix: "Install it there: `npm install --save-exact steward-gateway`",
  });
});

test("an unattended upgrade without consent is refused before anything is asked", async () => {
  const workDir = await projectOf({ ...DEPENDS, steward: { upgrade: { unattended: "major" } } });
  await expect(upgrade("dev", { workDir, unattended: true })).rejects.toMatchObject({
    code: "upgrade_unattended_off",
    reason: expect.stringContaining("steward.upgrade.unattended"),
  });
});

test("one upgrade of a stack runs at a time", async () => {
  const workDir = await projectOf(DEPENDS);
  const lock = path.join(workDir, ".steward/upgrades/acme.dev/lock");
  await withFileLock(lock, async () => {
    await expect(upgrade("acme/dev", { workDir })).rejects.toMatchObject({ code: "upgrade_under_way" });
  });
});
