import { resolve } from "node:path";
import { run, type Finished } from "../../infra/shell/process.ts";
import { goProgram } from "../../rehearsal/engine/build.ts";

const ACTIONLINT = {
  what: "actionlint",
  codePrefix: "actionlint",
  module: resolve(import.meta.dirname, "actionlint"),
  command: "github.com/rhysd/actionlint/cmd/actionlint",
  ldflags: "-s -w",
  place: "actionlint/actionlint",
};

/** Checks workflow files with actionlint, which is built from its pinned Go module into the cache if it is missing. */
export async function actionlint(files: readonly string[]): Promise<Finished> {
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const executable = await goProgram(ACTIONLINT, { log, env: process.env });
  // Without programs that only some machines have: what passes here passes there.
  return run(executable, ["-no-color", "-shellcheck=", "-pyflakes=", ...files]);
}
