import { link, copyFile, mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cacheRoot, contentKey, exclusively } from "../cache.ts";
import { docker, imageId, requireDocker, tryPull } from "../docker.ts";
import { BuildFailure } from "../failure.ts";
import { assembleDebian, assembledDebian, DEBIAN_RECIPE } from "./debian.ts";

/** The public image of the release that `assembleDebian` makes. */
const PUBLIC_DEBIAN = "debian:bookworm-slim";

export interface BaseImage {
  /** Name and tag; the tag follows from everything that goes in. */
  image: string;
  /** `present`: made before. `pulled`: from the public Debian image. `assembled`: from Debian's packages, here. */
  source: "present" | "pulled" | "assembled";
}

export interface BaseImageOptions {
  log: (line: string) => void;
  /** The process's own by default. Its DOCKER_HOST says which engine gets the image. */
  env?: NodeJS.ProcessEnv;
}

/**
 * Makes the base image of the application image, unless the Docker engine has it.
 *
 * @throws BuildFailure `docker_unavailable`, `docker_failed`, `base_node_missing`, `base_mmdebstrap_missing`,
 * `base_assembly_failed`
 */
export async function ensureBaseImage(options: BaseImageOptions): Promise<BaseImage> {
  const { log } = options;
  const env = options.env ?? process.env;
  const node = await pinnedNode(env);
  const key = await contentKey([node.version, node.arch, DEBIAN_RECIPE], import.meta.dirname, /^Dockerfile$/);
  const image = `steward-base:${key}`;
  if ((await imageId(image, env)) !== undefined) return { image, source: "present" };

  const cache = join(cacheRoot(env), "base");
  return exclusively(join(cache, `${key}.lock`), async () => {
    if ((await imageId(image, env)) !== undefined) return { image, source: "present" };
    // What was assembled once shows that the registry is out of reach: asking it again would only take time.
    const archive = await assembledDebian(cache, node.arch);
    if (archive === undefined && (await tryPull(PUBLIC_DEBIAN, { log, env }))) {
      await build(image, PUBLIC_DEBIAN, node.path, env);
      return { image, source: "pulled" };
    }
    const debian = `steward-debian:${key}`;
    await docker(["import", archive ?? (await assembleDebian(cache, node.arch, { log, env })), debian], {
      env,
    });
    await build(image, debian, node.path, env);
    // The base holds its layers; the name would only be one more to explain.
    await docker(["rmi", debian], { env });
    return { image, source: "assembled" };
  });
}

async function build(image: string, debian: string, node: string, env: NodeJS.ProcessEnv): Promise<void> {
  const context = await mkdtemp(join(tmpdir(), "steward-base-"));
  try {
    await link(node, join(context, "node")).catch(() => copyFile(node, join(context, "node")));
    const dockerfile = join(import.meta.dirname, "Dockerfile");
    await docker(
      ["build", "--build-arg", `DEBIAN=${debian}`, "--tag", image, "--file", dockerfile, context],
      { env },
    );
  } finally {
    await rm(context, { recursive: true, force: true });
  }
}

/** The Node for the engine's processor, from the package that also gives this checkout its own. */
async function pinnedNode(env: NodeJS.ProcessEnv): Promise<{ path: string; version: string; arch: string }> {
  const engine = await requireDocker(env);
  const name = `node-linux-${engine.arch === "amd64" ? "x64" : engine.arch}`;
  const require = createRequire(import.meta.url);
  try {
    const manifest = require.resolve(`${name}/package.json`);
    const { version } = require(manifest) as { version: string };
    return { path: join(dirname(manifest), "bin", "node"), version, arch: engine.arch };
  } catch {
    throw new BuildFailure(
      "base_node_missing",
      `the image needs a Node for linux/${engine.arch}, and the package ${name} is not installed`,
      `Install it without saving it: npm install --no-save --force ${name}`,
    );
  }
}
