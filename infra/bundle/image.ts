import { join } from "node:path";
import { AGENT } from "../../runtime/contract/names.ts";
import { buildArguments } from "./arguments.ts";
import { ensureBaseImage } from "./base.ts";
import type { Bundle } from "./bundle.ts";
import { cacheRoot, withFileLock } from "../shell/cache.ts";
import { docker, imageLabel } from "../shell/docker.ts";

export const APP_DOCKERFILE = join(import.meta.dirname, "Dockerfile");

/** https://github.com/opencontainers/image-spec/blob/main/annotations.md */
const BASE_LABEL = "org.opencontainers.image.base.name";

/**
 * Builds a bundle's application image and its base image, unless the Docker engine has them. Only one process builds at
 * a time: images that are built separately differ in their digests.
 *
 * @throws BuildFailure `docker_unavailable`, `docker_failed`; also any error from `ensureBaseImage`
 */
export async function stewardImage(
  { container }: { container: Pick<Bundle["container"], "context" | "hash"> },
  log: (line: string) => void,
): Promise<{ image: string }> {
  const { image: base } = await ensureBaseImage({ log });
  const { hash, context } = container;
  const image = `${AGENT}:${hash}`;
  const isPresent = async (): Promise<boolean> => (await imageLabel(image, BASE_LABEL)) === base;
  const build = async (): Promise<void> => {
    if (await isPresent()) return;
    log(`building ${image}`);
    const given = Object.entries(buildArguments({ hash, base })).map(
      ([name, value]) => `--build-arg=${name}=${value}`,
    );
    await docker(["build", "--quiet", `--file=${APP_DOCKERFILE}`, `--tag=${image}`, ...given, context]);
  };
  if (!(await isPresent())) await withFileLock(join(cacheRoot(process.env), "image.lock"), build);
  return { image };
}
