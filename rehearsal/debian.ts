import { access, mkdir, rename, rm } from "node:fs/promises";
import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { BuildFailure } from "../infra/shell/failure.ts";
import { runProcess, tail } from "../infra/shell/process.ts";

const RELEASE = "bookworm";

/** Some of Debian's essential packages, plus the packages that Node and the supervisor require. */
const PACKAGES =
  "base-files,base-passwd,bash,coreutils,dash,debianutils,diffutils,dpkg,findutils,grep,hostname,libc-bin,mawk," +
  "perl-base,procps,sed,tar,usr-is-merged,util-linux,ca-certificates,libstdc++6,tini";

const ARGS = [
  "--variant=custom",
  "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr",
  '--aptopt=Apt::Install-Recommends "false"',
  ...["man", "locale", "doc", "info"].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
  `--include=${PACKAGES}`,
];

/** Cache key: a hash of the release and options, independent of Debian's package updates. */
const DEBIAN_RECIPE = createHash("sha256")
  .update(JSON.stringify([RELEASE, ARGS]))
  .digest("hex")
  .slice(0, 16);

const PROGRESS_MS = 5_000;

function archivePath(cache: string, arch: string): string {
  return join(cache, `debian-${RELEASE}-${arch}-${DEBIAN_RECIPE}.tar`);
}

/** Returns the path of the archive that {@link assembleDebian} cached; `undefined` if there is none. */
export async function assembledDebian(cache: string, arch: string): Promise<string | undefined> {
  const path = archivePath(cache, arch);
  return access(path).then(
    () => path,
    () => undefined,
  );
}

/**
 * Assembles a small Debian and caches it as an archive for `docker import`.
 *
 * @param arch architecture as Debian and Docker name it: `amd64`, `arm64`
 * @throws BuildFailure `base_mmdebstrap_missing`, `base_assembly_failed`
 */
export async function assembleDebian(
  cache: string,
  arch: string,
  options: { log: (line: string) => void; env: NodeJS.ProcessEnv },
): Promise<string> {
  const path = archivePath(cache, arch);
  const temporary = join(cache, `${randomUUID()}.tar`);
  await mkdir(cache, { recursive: true });

  const started = performance.now();
  const seconds = () => Math.round((performance.now() - started) / 1000);
  options.log(`assembling Debian ${RELEASE} (${arch}) from its packages: about 15 s, once for this machine`);
  const progress = setInterval(() => options.log(`assembling Debian: ${seconds()} s`), PROGRESS_MS);
  try {
    const finished = await runProcess(
      "mmdebstrap",
      [...ARGS, `--architectures=${arch}`, RELEASE, temporary],
      {
        env: options.env,
      },
    );
    if (finished.missing) {
      throw new BuildFailure(
        "base_mmdebstrap_missing",
        "the base image can be neither pulled nor assembled: mmdebstrap is not installed",
        "Install it (apt-get install mmdebstrap), or let the Docker engine reach a registry with debian:bookworm-slim.",
      );
    }
    if (finished.code !== 0) {
      throw new BuildFailure(
        "base_assembly_failed",
        `mmdebstrap failed after ${seconds()} s (exit code ${finished.code}):\n${tail(finished, 10)}`,
        "Debian's archive must be reachable, and the user must be root or be allowed to create user namespaces.",
      );
    }
    await rename(temporary, path);
  } finally {
    clearInterval(progress);
    await rm(temporary, { force: true });
  }
  options.log(`assembled Debian in ${seconds()} s`);
  return path;
}
