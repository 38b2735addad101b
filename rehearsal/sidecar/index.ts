import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cacheRoot, contentKey, withFileLock } from "../../infra/shell/cache.ts";
import { docker, imageId, requireDocker, tryPull } from "../../infra/shell/docker.ts";
import { goBuild } from "../engine/go.ts";

/** Image that Miniflare 5.20261117 uses with the pinned workerd version. */
const PUBLIC_IMAGE =
  "cloudflare/proxy-everything:3cb1195@sha256:0ef6716c52430096900b150d84a3302057d6cd2319dae7987128c85d0733e3c8";

export interface SidecarImage {
  /** Value of Miniflare's `containerEngine.localDocker.containerEgressInterceptorImage`. */
  image: string;
  /**
   * Origin of the image. `pulled`: the public one. `assembled`: the project's stand-in, which does not intercept
   * outgoing traffic.
   */
  source: "pulled" | "assembled";
}

/**
 * Ensures that the Docker engine has workerd's public sidecar image or the project's stand-in. If both are absent,
 * pulls the public image, or builds the stand-in if the pull fails.
 *
 * @throws BuildFailure `docker_unavailable`, `docker_failed`, `sidecar_go_missing`, `sidecar_build_failed`
 */
export async function ensureSidecarImage(options: {
  log: (line: string) => void;
  env?: NodeJS.ProcessEnv;
}): Promise<SidecarImage> {
  const { log } = options;
  const env = options.env ?? process.env;
  const engine = await requireDocker(env);

  if ((await imageId(PUBLIC_IMAGE, env)) !== undefined) return { image: PUBLIC_IMAGE, source: "pulled" };
  const image = await ownImage(engine.arch);
  if ((await imageId(image, env)) !== undefined) return { image, source: "assembled" };
  if (await tryPull(PUBLIC_IMAGE, { log, env })) return { image: PUBLIC_IMAGE, source: "pulled" };

  await withFileLock(join(cacheRoot(env), "sidecar.lock"), async () => {
    if ((await imageId(image, env)) === undefined) await assemble(image, engine.arch, log, env);
  });
  return { image, source: "assembled" };
}

/** Returns the name of the public sidecar image if it is present, else the stand-in's name. */
export async function sidecarImageName(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const { arch } = await requireDocker(env);
  return (await imageId(PUBLIC_IMAGE, env)) === undefined ? ownImage(arch) : PUBLIC_IMAGE;
}

async function ownImage(arch: string): Promise<string> {
  return `steward-sidecar:${await contentKey([arch], import.meta.dirname, /^(Dockerfile|main\.go|go\.mod)$/)}`;
}

/** Builds the stand-in image. It contains only a static binary, which starts fast. */
async function assemble(
  image: string,
  arch: string,
  log: (line: string) => void,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const context = await mkdtemp(join(tmpdir(), "steward-sidecar-"));
  try {
    await goBuild({
      what: "the container sidecar",
      codePrefix: "sidecar",
      module: import.meta.dirname,
      command: ".",
      output: join(context, "sidecar"),
      ldflags: "-s -w",
      log,
      env: { ...env, CGO_ENABLED: "0", GOOS: "linux", GOARCH: arch },
    });
    const dockerfile = join(import.meta.dirname, "Dockerfile");
    await docker(["build", "--tag", image, "--file", dockerfile, context], { env });
  } finally {
    await rm(context, { recursive: true, force: true });
  }
}
