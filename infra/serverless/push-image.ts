import type Cloudflare from "cloudflare";
import { StewardError } from "../../runtime/contract/errors.ts";
import { AGENT } from "../../runtime/contract/names.ts";
import { docker } from "../shell/docker.ts";
import { run, tail } from "../shell/process.ts";
import type { InstanceType } from "./container-api.ts";
import { requireFit, type ImageSize } from "./image-fit.ts";
import { withRegistryLogin, type RegistryAccount } from "./registry-login.ts";

/** What is pushed where. */
export interface ImagePush extends RegistryAccount {
  /** An image that the engine has. */
  image: string;
  /** What it is called at the registry. */
  tag: string;
  /** Whose disk has to hold it. */
  instanceType: InstanceType;
}

/** https://developers.cloudflare.com/containers/platform-details/architecture/ */
const PLATFORM = "linux/amd64";
/** What the registry's refusals have in common, as the engine repeats them. */
const REFUSAL = /unauthorized|authentication required|access to the resource is denied|no basic auth/i;

/**
 * Pushes an image to the account's registry, and leaves no other name for it behind on the engine.
 *
 * @returns its name by digest, which no later push can move.
 * @throws StewardError `image_platform_wrong`, `image_too_large` before anything is pushed; `registry_refused`,
 * `image_push_failed`
 */
export async function pushImage(client: Cloudflare, push: ImagePush): Promise<string> {
  const { image, tag, accountId, registry, instanceType } = push;
  requireFit(await inspect(image), instanceType);
  const repository = `${registry}/${accountId}/${AGENT}`;
  const target = `${repository}:${tag}`;
  return withRegistryLogin(client, push, async (env) => {
    await docker(["tag", image, target]);
    try {
      const pushed = await run("docker", ["push", "--quiet", target], { env });
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
  throw new StewardError("image_push_failed", `The engine tells no digest of ${target}`);
}

function failure(registry: string, words: string): StewardError {
  return REFUSAL.test(words)
    ? new StewardError("registry_refused", `${registry} refuses the push: ${words}`)
    : new StewardError("image_push_failed", `The push to ${registry} failed: ${words}`);
}
