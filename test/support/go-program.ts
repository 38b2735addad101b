import { basename, join } from "node:path";
import { cacheRoot, contentKey } from "../../infra/shell/cache.ts";
import { buildOnce, type EngineBuildOptions } from "../../rehearsal/engine/build.ts";
import { goBuild } from "../../rehearsal/engine/go.ts";
import { isExecutable } from "../../rehearsal/engine/plugins.ts";

/** A program of a pinned Go module that is kept in the cache. */
interface GoProgram {
  what: string;
  codePrefix: string;
  /** Folder of the Go module, with go.mod and go.sum. */
  module: string;
  /** Import path of the command to build; its last part names the executable. */
  command: string;
  ldflags: string;
  /** Path in the cache, below its root; the content's key is added. */
  place: string;
}

/** Builds a program into the cache, unless it is there. @returns its executable */
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
