import { join } from "node:path";
import { baseImageRecipe, ensureBaseImage, type BaseImageOptions } from "../infra/bundle/base.ts";
import { cacheRoot } from "../infra/shell/cache.ts";
import { docker } from "../infra/shell/docker.ts";
import { BuildFailure } from "../infra/shell/failure.ts";
import { assembleDebian, assembledDebian } from "./debian.ts";

/** A base image and its origin. `assembled` means built from Debian packages on this machine. */
export interface PreparedBase {
  image: string;
  source: "present" | "pulled" | "assembled";
}

/**
 * Ensures that the Docker engine has the base image. If no registry is reachable, assembles its Debian layer from
 * packages and builds the image locally.
 *
 * @throws BuildFailure `docker_unavailable`, `docker_failed`, `base_node_missing`, `base_mmdebstrap_missing`,
 *   `base_assembly_failed`
 */
export async function prepareBaseImage(options: BaseImageOptions): Promise<PreparedBase> {
  const { log, env = process.env } = options;
  const recipe = await baseImageRecipe(env);
  const { image, arch } = recipe;
  const cache = join(cacheRoot(env), "base");
  // A cached Debian layer means that no registry was reachable before. Another slow pull would probably fail too.
  if ((await recipe.id()) !== undefined || (await assembledDebian(cache, arch)) === undefined) {
    const pulled = await ensureBaseImage(options).catch(unlessUnreachable);
    if (pulled !== undefined) return pulled;
  }
  return recipe.exclusively(async () => {
    if ((await recipe.id()) !== undefined) return { image, source: "present" };
    const debian = image.replace("steward-base", "steward-debian");
    const archive = (await assembledDebian(cache, arch)) ?? (await assembleDebian(cache, arch, { log, env }));
    await docker(["import", archive, debian], { env });
    await recipe.build(debian);
    await docker(["rmi", debian], { env });
    return { image, source: "assembled" };
  });
}

function unlessUnreachable(error: unknown): undefined {
  if (!(error instanceof BuildFailure) || error.code !== "base_image_unreachable") throw error;
}
