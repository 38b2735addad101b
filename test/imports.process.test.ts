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
  await plant("runtime/gateway/prompt/operator.ts", "export const I = 1;");
  await plant("runtime/gateway/prompt/caller.ts", "export const J = 1;");
  await plant("infra/shell/process.ts", "export const E = 1;");
  await plant("stacks/program.ts", "export const F = 1;");
  await plant("policies/rule.ts", "export const G = 1;");
  await plant("rehearsal/world.ts", "export const H = 1;");
  await plant("scripts/release/check.ts", "export const K = 1;");
  await plant("test/support/x.ts", "export const D = 1;");
});
afterAll(() => rm(project, { recursive: true }));

async function plant(file: string, source: string): Promise<void> {
  await mkdir(path.dirname(path.join(project, file)), { recursive: true });
  await writeFile(path.join(project, file), `${source}\n`);
}

/** The files that the cruiser objects to in the planted project. */
async function offenders(): Promise<string[]> {
  const options = { cwd: project, env: { ...process.env, NO_COLOR: "1" }, maxBuffer: 1 << 24 };
  const folders = ["runtime", "infra", "stacks", "policies", "rehearsal", "scripts", "test"];
  const args = [CRUISER, ...folders, "--config", ".dependency-cruiser.mjs", "--output-type", "json"];
  const { stdout } = await run(process.execPath, args, options).catch((error: { stdout: string }) => error);
  const { summary } = JSON.parse(stdout) as { summary: { violations: { from: string }[] } };
  return summary.violations.map(({ from }) => from);
}

const WRONG = [
  ["runtime/edge/bad1.ts", 'import fs from "node:fs"; export default fs;'],
  ["runtime/edge/bad2.ts", 'import { C } from "../gateway/main.ts"; export { C };'],
  ["runtime/contract/bad3.ts", 'import { B } from "../edge/app.ts"; export { B };'],
  ["runtime/gateway/bad4.ts", 'import { B } from "../edge/app.ts"; export { B };'],
  ["runtime/gateway/bad5.ts", 'import { D } from "../../test/support/x.ts"; export { D };'],
  ["rehearsal/bad6.ts", 'import { D } from "./support/x.ts"; export { D };'],
  ["infra/shell/bad7.ts", 'import { F } from "../../stacks/program.ts"; export { F };'],
  ["runtime/gateway/bad8.ts", 'import { H } from "../../rehearsal/world.ts"; export { H };'],
  ["infra/shell/bad9.ts", 'import { H } from "../../rehearsal/world.ts"; export { H };'],
  ["stacks/commands/bad10.ts", 'const { H } = await import("../../rehearsal/world.ts"); export { H };'],
  ["runtime/gateway/channels/bad12.ts", 'import { I } from "../prompt/operator.ts"; export { I };'],
  ["runtime/gateway/agent/bad13.ts", 'import { J } from "../prompt/caller.ts"; export { J };'],
  ["stacks/commands/bad14.ts", 'import { K } from "../../scripts/release/check.ts"; export { K };'],
  ["policies/bad11.ts", 'export type { H } from "../rehearsal/world.ts";'],
] as const;
const RIGHT = [
  ["rehearsal/good.ts", 'import { F } from "../stacks/program.ts"; export { F };'],
  ["stacks/good.ts", 'import { E } from "../infra/shell/process.ts"; export { E };'],
  ["runtime/gateway/agent/instructions.ts", 'import { I } from "../prompt/operator.ts"; export { I };'],
  ["runtime/edge/good.ts", 'import { A } from "../contract/names.ts"; export { A };'],
] as const;

describe("the import table", () => {
  // One run for all of them: each file breaks or keeps the table alone.
  let found: string[];
  beforeAll(async () => {
    await Promise.all([...WRONG, ...RIGHT].map(([file, source]) => plant(file, source)));
    found = await offenders();
  });

  it.each(WRONG)("catches in %s: %s", (file) => {
    expect(found).toContain(file);
  });

  it("finds nothing where every import is allowed", () => {
    const wrong: readonly string[] = WRONG.map(([file]) => file);
    expect(found.filter((file) => !wrong.includes(file))).toEqual([]);
  });
});
