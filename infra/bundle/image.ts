import { join } from "node:path";
import { AGENT } from "../../runtime/contract/names.ts";
import { buildArguments } from "./arguments.ts";
import { ensureBaseImage } from "./base.ts";
import type { Bundle } from "./bundle.ts";
import { docker, imageId, imageLabel } from "../shell/docker.ts";

/** Dockerfile of the application image. Its arguments are those of `buildArguments`. */
export const APP_DOCKERFILE = join(import.meta.dirname, "Dockerfile");

/** https://github.com/opencontainers/image-spec/blob/main/annotations.md */
const BASE_LABEL = "org.opencontainers.image.base.name";

interface AppImageOptions {
  /** A folder that `writeContext` has written. */
  contextDir: string;
  /** Name and tag of the image. The tag has to follow from the bundle's content and the base image. */
  tag: string;
  baseImage: string;
  log: (line: string) => void;
}

/**
 * Builds the application image, unless the Docker engine has one of that name on the same base.
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
 * Makes the application image of a bundle with its base, unless the Docker engine has it. Returns its name and tag; the
 * tag follows from the bundle and the image's recipe.
 *
 * @throws BuildFailure of `ensureBaseImage`; `docker_unavailable`, `docker_failed`
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
