import { join } from "node:path";
import { pluginVersion } from "../../stacks/commands/deployed/cli.ts";
import { contentKey } from "../../infra/shell/cache.ts";
import { goBuild } from "./go.ts";
import { buildOnce, type EngineBuildOptions } from "./build.ts";
import { isExecutable } from "./plugins.ts";

const MODULE = join(import.meta.dirname, "docker");

/** Leaves out docker_compose, which no stack uses and which brings half of Docker Compose with it. */
const TAGS = ["no_compose"];

/** Returns the docker provider that was built into the cache before. */
export async function cachedDockerProvider(root: string): Promise<string | undefined> {
  const { executable } = await place(root);
  return (await isExecutable(executable)) ? executable : undefined;
}

/**
 * Builds the docker provider into the cache, unless it is there. It calls itself by the version of the `@pulumi/docker`
 * package, because that is the plugin that the package asks for.
 */
export async function dockerProvider(options: EngineBuildOptions): Promise<string> {
  const { version, ldflags, folder, executable } = await place(options.root);
  if (await isExecutable(executable)) return executable;

  const build = (target: string) =>
    goBuild({
      what: `the docker provider ${version}`,
      codePrefix: "engine",
      module: MODULE,
      command: ".",
      output: join(target, "pulumi-resource-docker"),
      ldflags,
      tags: TAGS,
      log: options.log,
      env: options.env,
    });
  await buildOnce(folder, executable, build, options.log);
  return executable;
}

async function place(root: string) {
  const version = await pluginVersion("docker");
  const ldflags = `-s -w -X main.version=${version}`;
  const key = await contentKey([ldflags, ...TAGS, process.platform, process.arch], MODULE, /\.(mod|sum|go)$/);
  const folder = join(root, `docker-${version}-${key}`);
  return { version, ldflags, folder, executable: join(folder, "pulumi-resource-docker") };
}
