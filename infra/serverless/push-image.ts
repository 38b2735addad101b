import { StewardError } from "../../runtime/contract/errors.ts";
import { AGENT } from "../../runtime/contract/names.ts";
import { docker, type RegistryLogin, withRegistryLogin } from "../shell/docker.ts";
import { runProcess, tail } from "../shell/process.ts";
import { type AccountAccess, AccountError, callAccount } from "./account-api.ts";
import type { InstanceType } from "./container-api.ts";
import { INSTANCES } from "./cost.ts";

/** Lifetime of the push credentials, as in Cloudflare's own CLI. */
const VALID_MINUTES = 15;

const MB = 1_000_000;
const LAYER_BYTES = 16 * 1024 * 1024;
const SPARE = 1.1;

interface ImagePush {
  /** Registry host, with the port unless it is the default. */
  registry: string;
  /** Local image. */
  image: string;
  /** Remote tag. */
  tag: string;
  /** Instance type whose disk must hold the image. */
  instanceType: InstanceType;
}

/** https://developers.cloudflare.com/containers/platform-details/architecture/ */
const PLATFORM = "linux/amd64";
const REFUSAL = /unauthorized|authentication required|access to the resource is denied|no basic auth/i;

/**
 * Pulls an image for the containers' platform and returns its name.
 *
 * @throws BuildFailure `docker_unavailable`, `docker_failed`
 */
export async function pullImage(image: string): Promise<string> {
  await docker(["pull", "--quiet", `--platform=${PLATFORM}`, image]);
  return image;
}

/**
 * Pushes an image to the account's registry.
 *
 * @returns the image's name with its digest
 * @throws StewardError `image_platform_wrong`, `image_too_large` before the push; `registry_refused`,
 * `image_push_failed`
 * @throws BuildFailure `docker_unavailable`, `docker_failed`
 */
export async function pushImage(access: AccountAccess, push: ImagePush): Promise<string> {
  const { image, tag, registry, instanceType } = push;
  requireFit(await inspect(image), instanceType);
  const repository = `${registry}/${access.accountId}/${AGENT}`;
  const target = `${repository}:${tag}`;
  return withRegistryLogin(registry, await issue(access, registry), async (env) => {
    await docker(["tag", image, target]);
    try {
      const pushed = await runProcess("docker", ["push", "--quiet", target], { env });
      if (pushed.code !== 0) throw failure(registry, tail(pushed, 3));
      return await digestOf(target, repository);
    } finally {
      await docker(["image", "rm", target]);
    }
  });
}

async function inspect(image: string): Promise<ImageSize> {
  const format = "{{.Os}}/{{.Architecture}} {{.Size}} {{len .RootFS.Layers}}";
  const { stdout } = await docker(["image", "inspect", "--format", format, image]);
  const [platform, bytes, layers] = stdout.trim().split(" ");
  if (platform === PLATFORM) return { bytes: Number(bytes), layers: Number(layers) };
  throw new StewardError(
    "image_platform_wrong",
    `The image ${image} is for ${platform}, not for ${PLATFORM}`,
  );
}

async function digestOf(target: string, repository: string): Promise<string> {
  const { stdout } = await docker(["image", "inspect", "--format", "{{json .RepoDigests}}", target]);
  const digests = JSON.parse(stdout) as string[];
  const found = digests.find((digest) => digest.startsWith(`${repository}@sha256:`));
  if (found !== undefined) return found;
  throw new StewardError("image_push_failed", `The Docker engine reports no digest of ${target}`);
}

function failure(registry: string, words: string): StewardError {
  return REFUSAL.test(words)
    ? new StewardError("registry_refused", `${registry} refuses the push: ${words}`)
    : new StewardError("image_push_failed", `The push to ${registry} failed: ${words}`);
}

interface ImageSize {
  /** Uncompressed size of all layers. */
  bytes: number;
  layers: number;
}

/**
 * Checks that the image fits on the instance type's disk, as Cloudflare's CLI does (`ensureImageFitsLimits` in
 * https://github.com/cloudflare/workers-sdk): its size plus 10 %, plus 16 MiB per layer.
 *
 * @throws StewardError `image_too_large` with the smallest instance type that fits
 */
function requireFit(size: ImageSize, instanceType: InstanceType): void {
  const needed = Math.ceil(size.bytes * SPARE + size.layers * LAYER_BYTES);
  const disk = (type: InstanceType): number => INSTANCES[type].diskGB * 1_000 * MB;
  if (needed <= disk(instanceType)) return;
  const fitting = (Object.keys(INSTANCES) as InstanceType[]).find((type) => needed <= disk(type));
  const way = fitting === undefined ? "no type is large enough" : `the smallest that fits is ${fitting}`;
  throw new StewardError(
    "image_too_large",
    `The image needs ${Math.ceil(needed / MB)} MB of disk (${size.layers} layers), and ${instanceType} has ${disk(instanceType) / MB} MB; ${way}`,
  );
}

/** https://developers.cloudflare.com/api/resources/containers/subresources/registries/subresources/credentials/ */
async function issue(access: AccountAccess, registry: string): Promise<RegistryLogin> {
  const path = `containers/registries/${registry}/credentials`;
  const body = { expiration_minutes: VALID_MINUTES, permissions: ["push", "pull"] };
  try {
    return (await callAccount<RegistryLogin>(access, path, { method: "POST", body })).result;
  } catch (cause) {
    if (!(cause instanceof AccountError)) throw cause;
    const detail = `Cloudflare issues no credentials for ${registry}: ${cause.message}`;
    throw new StewardError("registry_refused", detail, { cause });
  }
}
