import { cp, lutimes, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AGENT } from "../../runtime/contract/names.ts";
import { ensureBaseImage, type BaseImage } from "./base/index.ts";
import type { Bundle } from "./bundle.ts";
import { docker, imageId } from "./docker.ts";

/** Dockerfile of the application image. It takes one build argument, BASE, and the bundle as its context. */
export const APP_DOCKERFILE = join(import.meta.dirname, "Dockerfile");

export interface AppImageOptions {
  /** The container bundle: `supervisor/main.js`, `gateway/main.js`, `platform/node/host.js` and their chunks. */
  contextDir: string;
  /** Name and tag of the image. The tag has to follow from the bundle's content and the base image. */
  tag: string;
  baseImage: string;
  log: (line: string) => void;
}

/** Every file of the image has this time, so that the same bundle gives the same layer. Unix seconds. */
const FIXED_TIME = 1_700_000_000;

/**
 * Builds the application image, unless the Docker engine has one of that name.
 * @throws BuildFailure `docker_unavailable`, `docker_failed`
 */
export async function buildAppImage(options: AppImageOptions): Promise<{ image: string; id: string }> {
  const { tag: image, log } = options;
  const present = await imageId(image);
  if (present !== undefined) return { image, id: present };

  const context = await mkdtemp(join(tmpdir(), "steward-image-"));
  try {
    await cp(options.contextDir, context, { recursive: true });
    await fixTimes(context);
    log(`building ${image}`);
    const built = await docker(buildArguments(options, context));
    const id = (await imageId(image)) ?? built.stdout.trim();
    return { image, id };
  } finally {
    await rm(context, { recursive: true, force: true });
  }
}

/** An image of this checkout. */
export interface StewardImage {
  /** Name and tag; the tag follows from the bundle and the image's recipe. */
  image: string;
  /** Where its base image came from. */
  base: BaseImage["source"];
}

/**
 * Makes the application image of a bundle with its base, unless the Docker engine has it.
 * @throws BuildFailure of `ensureBaseImage` and `buildAppImage`
 */
export async function stewardImage(
  { container }: Bundle,
  log: (line: string) => void,
): Promise<StewardImage> {
  const { image: baseImage, source: base } = await ensureBaseImage({ log });
  const tag = `${AGENT}:${container.hash}`;
  const { image } = await buildAppImage({ contextDir: container.dir, tag, baseImage, log });
  return { image, base };
}

/** Labels: https://specs.opencontainers.org/image-spec/annotations/ */
function buildArguments(options: AppImageOptions, context: string): string[] {
  const labels = {
    "org.opencontainers.image.title": "steward",
    "org.opencontainers.image.description": "An assistant gateway for Telegram, Slack and Discord",
    "org.opencontainers.image.licenses": "MIT",
    "org.opencontainers.image.version": options.tag.split(":").at(-1) ?? options.tag,
    "org.opencontainers.image.base.name": options.baseImage,
  };
  return [
    "build",
    "--quiet",
    `--file=${APP_DOCKERFILE}`,
    `--tag=${options.tag}`,
    `--build-arg=BASE=${options.baseImage}`,
    ...Object.entries(labels).map(([name, value]) => `--label=${name}=${value}`),
    context,
  ];
}

async function fixTimes(folder: string): Promise<void> {
  for (const name of await readdir(folder, { recursive: true })) {
    await lutimes(join(folder, name), FIXED_TIME, FIXED_TIME);
  }
  await lutimes(folder, FIXED_TIME, FIXED_TIME);
}
