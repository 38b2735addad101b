import { join } from "node:path";
import { AGENT } from "../../runtime/contract/names.ts";
import { buildArguments } from "./arguments.ts";
import { ensureBaseImage } from "./base.ts";
import type { Bundle } from "./bundle.ts";
import { docker, imageId, imageLabel } from "../shell/docker.ts";

export const APP_DOCKERFILE = join(import.meta.dirname, "Dockerfile");

/** https://github.com/opencontainers/image-spec/blob/main/annotations.md */
const BASE_LABEL = "org.opencontainers.image.base.name";

interface AppImageOptions {
  /** Folder written by `writeContext`. */
  contextDir: string;
  /** Must identify the bundle's content. */
  tag: string;
  baseImage: string;
  log: (line: string) => void;
}

/**
 * Builds the application image, unless the Docker engine has an image with the tag and base image in `options`.
 *
 * @throws BuildFailure `docker_unavailable`, `docker_failed`
 */
async function buildAppImage(options: AppImageOptions): Promise<{ image: string; id: string }> {
  const { tag: image, baseImage, log } = options;
  const [present, standsOn] = await Promise.all([imageId(image), imageLabel(image, BASE_LABEL)]);
  if (present !== undefined && standsOn === baseImage) return { image, id: present };

  log(`building ${image}`);
  const built = await docker(buildCommand(options));
  return { image, id: (await imageId(image)) ?? built.stdout.trim() };
}

/**
 * Builds a bundle's application image and its base image, unless the Docker engine has them.
 *
 * @throws BuildFailure `docker_unavailable`, `docker_failed`; also any error from `ensureBaseImage`
 */
export async function stewardImage(
  { container }: { container: Pick<Bundle["container"], "context" | "hash"> },
  log: (line: string) => void,
): Promise<{ image: string }> {
  const { image: baseImage } = await ensureBaseImage({ log });
  const tag = `${AGENT}:${container.hash}`;
  return buildAppImage({ contextDir: container.context, tag, baseImage, log });
}

function buildCommand({ contextDir, tag, baseImage }: AppImageOptions): string[] {
  const given = buildArguments({ hash: tag.split(":").at(-1) ?? tag, base: baseImage });
  return [
    "build",
    "--quiet",
    `--file=${APP_DOCKERFILE}`,
    `--tag=${tag}`,
    ...Object.entries(given).map(([name, value]) => `--build-arg=${name}=${value}`),
    contextDir,
  ];
}
