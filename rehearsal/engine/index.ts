import { delimiter, dirname, join } from "node:path";
import { cacheRoot } from "../../infra/shell/cache.ts";
import { runProcess } from "../../infra/shell/process.ts";
import { buildEngine, ENGINE_MODULE, enginePlace } from "./build.ts";
import { cachedDockerProvider, dockerProvider } from "./docker-provider.ts";
import { prepareHome } from "./home.ts";
import { installedEngine } from "./installed.ts";
import { pluginVersion } from "../../stacks/commands/deployed/cli.ts";
import { installedPlugins, userPulumiHome } from "./plugins.ts";
import type { Engine } from "./types.ts";

export { fileBackend } from "./backend.ts";
export { engineCommand } from "./command.ts";
export { linkTo } from "./plugins.ts";
export type { Engine } from "./types.ts";

export interface EngineOptions {
  /** True to also prepare the docker provider, which may have to be built. */
  docker?: boolean;
  log: (line: string) => void;
  /** Environment for the lookup. Default: `process.env`. */
  env?: NodeJS.ProcessEnv;
  /** Folder of a Go module that pins the engine's version. If set, a `pulumi` on PATH is ignored. */
  exactly?: string;
}

/**
 * Finds a Pulumi engine on PATH or in the cache, or builds one. In the engine's home directory, the rehearsal's own
 * provider stands in for each official provider that is not installed, except Docker's.
 *
 * @throws BuildFailure `engine_go_missing`, `engine_build_failed`
 */
export async function ensureEngine(options: EngineOptions): Promise<Engine> {
  const started = performance.now();
  const { docker = false, env = process.env, exactly, log } = options;
  const root = join(cacheRoot(env), "engine");
  const installed = exactly === undefined ? await installedEngine(env) : undefined;
  const place = await enginePlace(root, exactly ?? ENGINE_MODULE);
  const source = installed === undefined ? await buildEngine(place, { env, log }) : "path";
  const cli = installed?.cli ?? place.cli;
  const folder = installed === undefined ? place.folder : join(root, "installed");

  const official = await installedPlugins(userPulumiHome(env));
  const ownDocker = official.docker ?? (await cachedDockerProvider(root));
  const home = await prepareHome({
    folder,
    own: installed === undefined,
    plugins: { ...official, ...(ownDocker !== undefined && { docker: ownDocker }) },
  });
  const path = [dirname(cli), dirname(process.execPath), env["PATH"] ?? ""].join(delimiter);
  // Share a cache, because each of about six Node processes spends a quarter of its time compiling the same code.
  const compiled = { NODE_COMPILE_CACHE: env["NODE_COMPILE_CACHE"] || join(cacheRoot(env), "compiled") };
  const engineEnv = { PATH: path, PULUMI_SKIP_UPDATE_CHECK: "1", ...compiled, ...home };
  if (docker && ownDocker === undefined && !(await downloaded(installed?.cli, { ...env, ...engineEnv }))) {
    const docker = await dockerProvider({ root, env, log });
    await prepareHome({ folder, own: installed === undefined, plugins: { ...official, docker } });
  }
  return {
    cli,
    version: installed?.version ?? place.version,
    source,
    env: engineEnv,
    official: { cloudflare: official.cloudflare !== undefined, command: official.command !== undefined },
    ms: Math.round(performance.now() - started),
  };
}

async function downloaded(cli: string | undefined, env: NodeJS.ProcessEnv): Promise<boolean> {
  if (cli === undefined) return false;
  const words = ["plugin", "install", "resource", "docker", await pluginVersion("docker")];
  return (await runProcess(cli, words, { env, timeoutMs: 120_000 })).code === 0;
}
