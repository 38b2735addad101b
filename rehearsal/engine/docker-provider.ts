import { join } from "node:path";
import { pluginVersion } from "../../stacks/commands/deployed/cli.ts";
import { contentKey } from "../../infra/shell/cache.ts";
import { goBuild } from "./go.ts";
import { buildOnce, type EngineBuildOptions } from "./build.ts";
import { isExecutable } from "./plugins.ts";

const MODULE = join(import.meta.dirname, "docker");

/** Build tags. `no_compose` omits docker_compose. */
const TAGS = ["no_compose"];

export async function cachedDockerProvider(root: string): Promise<string | undefined> {
  const { executable } = await place(root);
  return (await isExecutable(executable)) ? executable : undefined;
}

/**
 * Returns the docker provider's executable. If it is not cached, builds the version that the `@pulumi/docker` package
 * requires.
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
