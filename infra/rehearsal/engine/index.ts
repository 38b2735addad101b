import { delimiter, dirname, join } from "node:path";
import { cacheRoot } from "../../build/cache.ts";
import { buildEngine, ENGINE_VERSION, enginePlace } from "./build.ts";
import { dockerProvider } from "./docker-provider.ts";
import { prepareHome } from "./home.ts";
import { installedEngine, type InstalledEngine } from "./installed.ts";
import {
  installedPlugins,
  isExecutable,
  type InstalledPlugins,
  PROVIDERS,
  type ProviderName,
  userPulumiHome,
} from "./plugins.ts";
import type { Engine } from "./types.ts";

export { fileBackend } from "./backend.ts";
export { engineCommand } from "./command.ts";
export type { Engine } from "./types.ts";

export interface EngineOptions {
  /** Whether the program uses the docker provider: it is built only then. */
  docker?: boolean;
  /** Gets the progress of a build, line by line. */
  log: (line: string) => void;
  /** The environment to look in; the process's own by default. */
  env?: NodeJS.ProcessEnv;
}

/**
 * Finds a Pulumi engine, or builds one. In this order: the `pulumi` on PATH together with its official provider
 * plugins; the cache; the `pulumi` on PATH without them; a build into the cache.
 *
 * @throws BuildFailure `engine_go_missing`, `engine_build_failed`
 */
export async function ensureEngine(options: EngineOptions): Promise<Engine> {
  const started = performance.now();
  const env = options.env ?? process.env;
  const docker = options.docker ?? false;

  const plugins = await installedPlugins(userPulumiHome(env));
  const installed = await installedEngine(env);
  const engine =
    installed && isComplete(plugins, docker)
      ? officialEngine(installed, plugins, env)
      : await ownEngine({ ...options, docker, env }, plugins, installed);
  return { ...engine, ms: Math.round(performance.now() - started) };
}

type Found = Omit<Engine, "ms">;

/** An official CLI fetches missing plugins from the network, which may be out of reach: with them it needs none. */
function isComplete(plugins: InstalledPlugins, docker: boolean): boolean {
  return PROVIDERS.every((name) => plugins[name] !== undefined || (name === "docker" && !docker));
}

function officialEngine(
  installed: InstalledEngine,
  plugins: InstalledPlugins,
  env: NodeJS.ProcessEnv,
): Found {
  return {
    ...installed,
    source: "path",
    env: { ...ordinary(env, dirname(installed.cli)), PULUMI_HOME: userPulumiHome(env) },
    official: present(plugins),
  };
}

async function ownEngine(
  options: Required<EngineOptions>,
  plugins: InstalledPlugins,
  installed: InstalledEngine | undefined,
): Promise<Found> {
  const { docker, env, log } = options;
  const root = join(cacheRoot(env), "engine");
  const place = await enginePlace(root);
  // A build takes minutes: an official CLI is at hand sooner, even one that has yet to fetch its plugins.
  if (installed && !(await isExecutable(place.cli))) return officialEngine(installed, plugins, env);
  const source = await buildEngine(place, { env, log });
  const dockerPlugin = plugins.docker ?? (docker ? await dockerProvider({ root, env, log }) : undefined);
  return {
    cli: place.cli,
    version: ENGINE_VERSION,
    source,
    env: {
      ...ordinary(env, dirname(place.cli)),
      ...(await prepareHome(place.folder, plugins, dockerPlugin)),
    },
    official: present(plugins),
  };
}

/** What every engine gets: this process's Node first on PATH, and no question to the outside about updates. */
function ordinary(env: NodeJS.ProcessEnv, cliFolder: string): Record<string, string> {
  const path = [cliFolder, dirname(process.execPath), env["PATH"] ?? ""].join(delimiter);
  return { PATH: path, PULUMI_SKIP_UPDATE_CHECK: "1" };
}

function present(plugins: InstalledPlugins): Record<ProviderName, boolean> {
  return {
    cloudflare: plugins.cloudflare !== undefined,
    command: plugins.command !== undefined,
    docker: plugins.docker !== undefined,
  };
}
