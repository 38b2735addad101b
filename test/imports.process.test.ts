import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const CRUISER = path.resolve("node_modules/dependency-cruiser/bin/dependency-cruiser.mjs");

let project: string;
beforeAll(async () => {
  project = await mkdtemp(path.join(tmpdir(), "steward-imports-"));
  await Promise.all(
    [".dependency-cruiser.mjs", "tsconfig.json"].map((file) => cp(file, path.join(project, file))),
  );
  await plant("runtime/contract/names.ts", "export const A = 1;");
  await plant("runtime/edge/app.ts", "export const B = 1;");
  await plant("runtime/gateway/main.ts", "export const C = 1;");
  await plant("infra/shell/process.ts", "export const E = 1;");
  await plant("stacks/program.ts", "export const F = 1;");
  await plant("policies/rule.ts", "export const G = 1;");
  await plant("rehearsal/world.ts", "export const H = 1;");
  await plant("test/support/x.ts", "export const D = 1;");
});
afterAll(() => rm(project, { recursive: true }));

async function plant(file: string, source: string): Promise<void> {
  await mkdir(path.dirname(path.join(project, file)), { recursive: true });
  await writeFile(path.join(project, file), `${source}\n`);
}

/** The cruiser's report on the planted project; empty where every import is allowed. */
async function violations(): Promise<string> {
  const options = { cwd: project, env: { ...process.env, NO_COLOR: "1" } };
  const folders = ["runtime", "infra", "stacks", "policies", "rehearsal", "test"];
  const args = [CRUISER, ...folders, "--config", ".dependency-cruiser.mjs", "--output-type", "err"];
  return run(process.execPath, args, options).then(
    () => "",
    (error: { stdout?: string }) => error.stdout ?? "",
  );
}

describe("the import table", () => {
  it.each([
    ["runtime/edge/bad.ts", 'import fs from "node:fs"; export default fs;'],
    ["runtime/edge/bad.ts", 'import { C } from "../gateway/main.ts"; export { C };'],
    ["runtime/contract/bad.ts", 'import { B } from "../edge/app.ts"; export { B };'],
    ["runtime/gateway/bad.ts", 'import { B } from "../edge/app.ts"; export { B };'],
    ["runtime/gateway/bad.ts", 'import { D } from "../../test/support/x.ts"; export { D };'],
    ["rehearsal/bad.ts", 'import { D } from "../test/support/x.ts"; export { D };'],
    ["infra/shell/bad.ts", 'import { F } from "../../stacks/program.ts"; export { F };'],
    ["runtime/gateway/bad.ts", 'import { H } from "../../rehearsal/world.ts"; export { H };'],
    ["infra/shell/bad.ts", 'import { H } from "../../rehearsal/world.ts"; export { H };'],
    ["stacks/commands/bad.ts", 'const { H } = await import("../../rehearsal/world.ts"); export { H };'],
    ["policies/bad.ts", 'export type { H } from "../rehearsal/world.ts";'],
  ])("catches in %s: %s", async (file, source) => {
    await plant(file, source);
    const report = await violations();
    await rm(path.join(project, file));
    expect(report).toContain(file);
  });

  it("finds nothing where every import is allowed", async () => {
    await plant("rehearsal/good.ts", 'import { F } from "../stacks/program.ts"; export { F };');
    await plant("stacks/good.ts", 'import { E } from "../infra/shell/process.ts"; export { E };');
    await plant("runtime/edge/good.ts", 'import { A } from "../contract/names.ts"; export { A };');
    expect(await violations()).toBe("");
  });
});
