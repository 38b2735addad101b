import { join, resolve } from "node:path";
import { cacheRoot, contentKey } from "../../infra/shell/cache.ts";
import { goBuild } from "../../rehearsal/engine/go.ts";
import { run, type Finished } from "../../infra/shell/process.ts";
import { buildOnce } from "../../rehearsal/engine/build.ts";

const MODULE = resolve(import.meta.dirname, "actionlint");
const LDFLAGS = "-s -w";

/** Checks workflow files with actionlint, which is built from its pinned Go module into the cache where it is missing. */
export async function actionlint(files: readonly string[]): Promise<Finished> {
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const key = await contentKey([LDFLAGS, process.platform, process.arch], MODULE, /^go\.(mod|sum)$/);
  const folder = join(cacheRoot(process.env), "actionlint", key);
  const executable = join(folder, "actionlint");
  const build = (target: string) =>
    goBuild({
      what: "actionlint",
      codePrefix: "actionlint",
      module: MODULE,
      command: "github.com/rhysd/actionlint/cmd/actionlint",
      output: join(target, "actionlint"),
      ldflags: LDFLAGS,
      log,
      env: process.env,
    });
  await buildOnce(folder, executable, build, log);
  // Without programs that only some machines have: what passes here passes there.
  return run(executable, ["-no-color", "-shellcheck=", "-pyflakes=", ...files]);
}
