import { existsSync } from "node:fs";
import { chmod, copyFile, mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as z from "zod";
import { parseJson } from "../../runtime/shared/json.ts";
import { cacheRoot, contentKey, withFileLock, createFolderAtomically } from "../shell/cache.ts";
import { docker, imageId, requireDocker, tryPull } from "../shell/docker.ts";
import { runProcess, tail } from "../shell/process.ts";
import { BuildFailure } from "../shell/failure.ts";
import { readBuildRecord, type BuildRecord } from "./released.ts";

const REPOSITORY = "steward-base";
/** File mode with which everyone can run Node.js but only root can read it; see base.Dockerfile. */
const EXECUTE_ONLY = 0o711;
const PUBLIC_DEBIAN = "debian:bookworm-slim";

export interface BaseImage {
  /** Name and tag. The tag combines the inputs' hash with the UTC month of the build. */
  image: string;
  /**
   * `present`: the Docker engine already had the base image. `pulled`: the base image was built from a newly pulled
   * Debian image.
   */
  source: "present" | "pulled";
}

export interface BaseImageOptions {
  log: (line: string) => void;
  /** Environment whose DOCKER_HOST selects the Docker engine. Default: this process's environment. */
  env?: NodeJS.ProcessEnv;
}

/** Description of this checkout's base image, with functions to find and build it on one Docker engine. */
export interface BaseImageRecipe {
  image: string;
  /** As in Docker and Debian: `amd64`, `arm64`. */
  arch: string;
  /** Returns the image's id; `undefined` if the engine does not have the image. */
  id(): Promise<string | undefined>;
  /** Returns the newest image built from the same inputs in an earlier month. */
  earlier(): Promise<string | undefined>;
  build(debian: string): Promise<void>;
  /** Runs `work` under a lock between processes. */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result>;
}

/**
 * Builds the base image unless the Docker engine has it. If Debian cannot be pulled, uses an earlier month's image.
 *
 * @throws BuildFailure `docker_unavailable`, `docker_failed`, `base_node_missing`, `base_image_unreachable`
 */
export async function ensureBaseImage(options: BaseImageOptions): Promise<BaseImage> {
  const { log, env = process.env } = options;
  const recipe = await baseImageRecipe(env);
  const { image } = recipe;
  if ((await recipe.id()) !== undefined) return { image, source: "present" };
  return recipe.exclusively(async () => {
    if ((await recipe.id()) !== undefined) return { image, source: "present" };
    if (!(await tryPull(PUBLIC_DEBIAN, { log, env }))) {
      const earlier = await recipe.earlier();
      if (earlier !== undefined) {
        log(`Using ${earlier} again, without Debian's later security updates`);
        return { image: earlier, source: "present" };
      }
      throw new BuildFailure(
        "base_image_unreachable",
        `the Docker engine neither has ${PUBLIC_DEBIAN} nor can pull it`,
        `Make \`docker pull ${PUBLIC_DEBIAN}\` work on that engine, or set steward:image to an image that it has.`,
      );
    }
    await recipe.build(PUBLIC_DEBIAN);
    return { image, source: "pulled" };
  });
}

/**
 * Returns the base image's recipe for the engine that `env` selects. A new image is built every month, for Debian's
 * security updates.
 *
 * @throws BuildFailure `docker_unavailable`, `base_node_missing`
 */
export async function baseImageRecipe(
  env: NodeJS.ProcessEnv,
  now: Date = new Date(),
): Promise<BaseImageRecipe> {
  const { file, version, arch } = await pinnedNode(env);
  const key = await contentKey([version, arch], import.meta.dirname, /^base\.Dockerfile$/);
  const image = `${REPOSITORY}:${key}-${baseMonth(now)}`;
  return {
    image,
    arch,
    id: () => imageId(image, env),
    earlier: async () => {
      // If Docker cannot list its images, assume there is no earlier image.
      const { stdout } = await runProcess(
        "docker",
        ["images", REPOSITORY, "--format", "{{.Repository}}:{{.Tag}}"],
        {
          env,
        },
      );
      return stdout
        .split("\n")
        .filter((name) => name.startsWith(`${REPOSITORY}:${key}-`) && name < image)
        .toSorted()
        .at(-1);
    },
    build: async (debian) => build(image, debian, await file(), env),
    exclusively: (work) => withFileLock(join(cacheRoot(env), "base", `${key}.lock`), work),
  };
}

/** Returns the UTC month, such as `2026-11`. */
export function baseMonth(now: Date = new Date()): string {
  return now.toISOString().slice(0, "2026-11".length);
}

async function build(image: string, debian: string, node: string, env: NodeJS.ProcessEnv): Promise<void> {
  const context = await mkdtemp(join(tmpdir(), "steward-base-"));
  try {
    await copyFile(node, join(context, "node"));
    await chmod(join(context, "node"), EXECUTE_ONLY);
    const dockerfile = join(import.meta.dirname, "base.Dockerfile");
    await docker(
      ["build", "--build-arg", `DEBIAN=${debian}`, "--tag", image, "--file", dockerfile, context],
      { env },
    );
  } finally {
    await rm(context, { recursive: true, force: true });
  }
}

/**
 * Returns Node.js for the Docker engine's CPU. A checkout uses an npm package; a release downloads Node.js at first
 * use.
 */
async function pinnedNode(env: NodeJS.ProcessEnv): Promise<PinnedNode> {
  const { arch } = await requireDocker(env);
  const name = `node-linux-${arch === "amd64" ? "x64" : arch}`;
  const pinned = readBuildRecord()?.node;
  if (pinned !== undefined) return { file: () => fetched(name, pinned, env), version: pinned.version, arch };
  const require = createRequire(import.meta.url);
  try {
    const manifest = require.resolve(`${name}/package.json`);
    const { version } = require(manifest) as { version: string };
    return { file: async () => join(dirname(manifest), "bin", "node"), version, arch };
  } catch {
    throw missingNode(name, "it is not installed", `Install it: \`npm install --no-save --force ${name}\``);
  }
}

interface PinnedNode {
  version: string;
  arch: string;
  file(): Promise<string>;
}

/** https://docs.npmjs.com/cli/commands/npm-pack#json */
const packedSchema = z.tuple([z.object({ filename: z.string(), integrity: z.string() })]);

/** Returns the cached executable. Downloads it if needed, and verifies it against the digest in the build record. */
async function fetched(
  name: string,
  { version, integrity }: BuildRecord["node"],
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const folder = join(cacheRoot(env), "node", `${name}-${version}`);
  const file = join(folder, "bin", "node");
  if (existsSync(file)) return file;
  const fetch = ["pack", `${name}@${version}`];
  const again = `Make this work, then try again: \`npm ${fetch.join(" ")}\``;
  await withFileLock(`${folder}.lock`, async () => {
    if (existsSync(file)) return;
    await createFolderAtomically(folder, async (draft) => {
      const answer = await runProcess("npm", [...fetch, "--json"], { cwd: draft, env });
      const [found] = packedSchema.safeParse(parseJson(answer.stdout)).data ?? [];
      if (found === undefined) throw missingNode(name, tail(answer, 3), again);
      if (found.integrity !== integrity[name]) {
        throw missingNode(
          name,
          `npm returned a ${name}@${version} with an unexpected digest`,
          "Use a registry with the original package: `npm config get registry` prints the current one.",
        );
      }
      const unpacked = await runProcess("tar", ["-xzf", found.filename, "--strip-components=1"], {
        cwd: draft,
        env,
      });
      if (unpacked.code !== 0) throw missingNode(name, tail(unpacked, 3), again);
      await rm(join(draft, found.filename));
    });
  });
  return file;
}

function missingNode(name: string, why: string, fix: string): BuildFailure {
  return new BuildFailure(
    "base_node_missing",
    `the image needs Node.js from the package ${name}: ${why}`,
    fix,
  );
}
