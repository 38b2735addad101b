import { basename, join } from "node:path";
import { cacheRoot, contentKey } from "../../infra/shell/cache.ts";
import { buildOnce, type EngineBuildOptions } from "../../rehearsal/engine/build.ts";
import { goBuild } from "../../rehearsal/engine/go.ts";
import { isExecutable } from "../../rehearsal/engine/plugins.ts";

interface GoProgram {
  what: string;
  codePrefix: string;
  /** Contains go.mod and go.sum. */
  module: string;
  command: string;
  ldflags: string;
  /** Folder in the cache, without its hash. */
  place: string;
}

/** Builds a Go program if the cache does not contain it. Returns the executable's path in the cache. */
export async function goProgram(
  { place, ...program }: GoProgram,
  { env, log }: Pick<EngineBuildOptions, "env" | "log">,
): Promise<string> {
  const { ldflags, module, command } = program;
  const key = await contentKey([ldflags, process.platform, process.arch], module, /^go\.(mod|sum)$/);
  const folder = join(cacheRoot(env), `${place}-${key}`);
  const executable = join(folder, basename(command));
  if (await isExecutable(executable)) return executable;
  const build = (target: string) =>
    goBuild({ ...program, output: join(target, basename(command)), log, env });
  await buildOnce(folder, executable, build, log);
  return executable;
}
