import { globSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { BuildFailure } from "../../infra/shell/failure.ts";
import { runProcess, type Finished } from "../../infra/shell/process.ts";
import { goProgram } from "../support/go-program.ts";
import { GITHUB, workflowFiles } from "./read.ts";

const BUILD_MS = 5 * 60_000;
const ACTIONLINT = {
  what: "actionlint",
  codePrefix: "actionlint",
  module: resolve(import.meta.dirname, "actionlint"),
  command: "github.com/rhysd/actionlint/cmd/actionlint",
  ldflags: "-s -w",
  place: "actionlint/actionlint",
};
const log = (line: string): void => void process.stderr.write(`${line}\n`);

/** Returns actionlint's executable, built from its pinned Go module into the cache; the reason if Go is missing. */
async function actionlint(): Promise<{ executable: string } | { missing: string }> {
  try {
    return { executable: await goProgram(ACTIONLINT, { log, env: process.env }) };
  } catch (error) {
    const isMissing = error instanceof BuildFailure && error.code === "actionlint_go_missing";
    if (!isMissing || process.env["CI"]) throw error;
    return { missing: error.message };
  }
}

/** Without programs that only some machines have: what passes here passes there. */
function check(executable: string, files: readonly string[]): Promise<Finished> {
  return runProcess(executable, ["-no-color", "-shellcheck=", "-pyflakes=", ...files]);
}

test(
  "actionlint finds nothing in the workflows, and a job that is not there in a wrong one",
  async (context) => {
    const found = await actionlint();
    if ("missing" in found) {
      log(`skipped: actionlint (${found.missing})`);
      return context.skip(found.missing);
    }
    const own = workflowFiles().map((name) => join(GITHUB, "workflows", name));
    const ofTemplates = globSync("templates/*/.github/workflows/*.yml");
    const clean = await check(found.executable, [...own, ...ofTemplates]);
    expect(clean.stdout + clean.stderr).toBe("");
    expect(clean.code).toBe(0);

    const folder = await mkdtemp(join(tmpdir(), "steward-workflow-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const wrong = join(folder, "wrong.yml");
    const text = readFileSync(join(GITHUB, "workflows/preview.yml"), "utf8");
    await writeFile(wrong, text.replace("needs: preview", "needs: nothing"));
    const faulty = await check(found.executable, [wrong]);
    expect(faulty.stdout).toContain('needs job "nothing" which does not exist');
    expect(faulty.code).toBe(1);
  },
  BUILD_MS,
);
