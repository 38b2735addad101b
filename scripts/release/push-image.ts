import { docker } from "../../infra/shell/docker.ts";
import { BuildFailure } from "../../infra/shell/failure.ts";
import { type Finished, runProcess, tail } from "../../infra/shell/process.ts";
import { localImage, savedImages } from "./artefacts.ts";

export interface ImageTarget {
  /** Includes the registry's host, such as `ghcr.io/example/steward`. */
  repository: string;
  version: string;
  /** Includes the registry login. */
  env: NodeJS.ProcessEnv;
}

/**
 * Pushes the images saved in a folder, then a multi-platform manifest of them as `<repository>:<version>`. Pushing the
 * same images again changes nothing.
 *
 * @returns the manifest's name with its digest
 * @throws BuildFailure `image_released` if the version's tag has other images; `image_push_failed`
 */
export async function pushImages(folder: string, target: ImageTarget): Promise<string> {
  const { repository, version, env } = target;
  const digests: string[] = [];
  for (const { arch, file } of await savedImages(folder)) {
    await docker(["load", "--quiet", "--input", file]);
    digests.push(await pushOne(localImage(version, arch), `${repository}:${version}-${arch}`, target));
  }
  const list = `${repository}:${version}`;
  const insecure = /^(?:127\.0\.0\.1|localhost)[:/]/.test(repository) ? ["--insecure"] : [];
  // Checks only the version's tag. The loop may overwrite the tags per architecture, because no release refers to them.
  const former = await runProcess("docker", ["manifest", "inspect", ...insecure, list], { env });
  if (former.code === 0 && !digests.every((digest) => former.stdout.includes(digest))) {
    throw new BuildFailure(
      "image_released",
      `${list} has other images already`,
      "Release another version: npm run release -- --prepare <version>",
    );
  }
  const images = digests.map((digest) => `${repository}@${digest}`);
  await succeed(["manifest", "create", ...insecure, list, ...images], env);
  const pushed = await succeed(["manifest", "push", "--purge", ...insecure, list], env);
  return `${repository}@${digestIn(pushed)}`;
}

/** Returns the digest. */
async function pushOne(image: string, name: string, { env }: ImageTarget): Promise<string> {
  await docker(["tag", image, name]);
  try {
    return digestIn(await succeed(["push", name], env));
  } finally {
    await docker(["image", "rm", name, image]);
  }
}

async function succeed(words: string[], env: NodeJS.ProcessEnv): Promise<Finished> {
  const finished = await runProcess("docker", words, { env });
  if (finished.code === 0) return finished;
  throw new BuildFailure(
    "image_push_failed",
    `docker ${words.slice(0, 2).join(" ")} failed: ${tail(finished, 3)}`,
    "Log in: docker login. In a workflow the job needs `packages: write`.",
  );
}

function digestIn({ stdout }: Finished): string {
  const digest = /sha256:[0-9a-f]{64}/.exec(stdout)?.[0];
  if (digest !== undefined) return digest;
  throw new BuildFailure("image_push_failed", `docker names no digest: ${stdout.trim()}`, "Push again.");
}
