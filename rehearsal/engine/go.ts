import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { BuildFailure } from "../../infra/shell/failure.ts";
import { type Finished, runProcess, tail } from "../../infra/shell/process.ts";

export interface GoBuild {
  /** Name of the program to build, for progress and error messages. */
  what: string;
  /** Prefix of the error codes: `<prefix>_go_missing`, `<prefix>_build_failed`. */
  codePrefix: string;
  module: string;
  /** Import path of the command to build. */
  command: string;
  output: string;
  ldflags: string;
  tags?: readonly string[];
  /** Runs before the build, once Go has been found. */
  prepare?: () => Promise<void>;
  log: (line: string) => void;
  env: NodeJS.ProcessEnv;
}

const PROGRESS_MS = 5_000;

/**
 * Builds a Go command from a pinned module.
 * @throws BuildFailure `<prefix>_go_missing` if Go is missing or too old, `<prefix>_build_failed` otherwise
 */
export async function goBuild(build: GoBuild): Promise<void> {
  const go = await findGo(build);
  const started = performance.now();
  const seconds = () => Math.round((performance.now() - started) / 1000);

  build.log(`building ${build.what} with ${go}, once for this machine`);
  await build.prepare?.();
  let packages = 0;
  let downloads = 0;
  const progress = setInterval(() => {
    build.log(
      `building ${build.what}: ${seconds()} s, ${downloads} modules fetched, ${packages} packages compiled`,
    );
  }, PROGRESS_MS);

  const flags = ["-mod=readonly", "-buildvcs=false", "-trimpath", "-v", "-ldflags", build.ldflags];
  if (build.tags) flags.push("-tags", build.tags.join(","));
  const finished = await runProcess("go", ["build", ...flags, "-o", build.output, build.command], {
    cwd: build.module,
    env: build.env,
    onLine: (line) => {
      if (line.startsWith("go: downloading ")) downloads += 1;
      else packages += 1;
    },
  }).finally(() => clearInterval(progress));

  if (finished.code !== 0) throw buildFailed(build, `after ${seconds()} s (go build`, finished);
  build.log(`built ${build.what} in ${seconds()} s`);
}

/**
 * Downloads the version of a module that the build's go.mod requires.
 *
 * @returns the module's read-only folder in Go's cache
 * @throws BuildFailure `<prefix>_build_failed`
 */
export async function downloadModule(build: GoBuild, name: string): Promise<string> {
  const finished = await runProcess("go", ["mod", "download", "-json", name], {
    cwd: build.module,
    env: build.env,
  });
  if (finished.code !== 0) throw buildFailed(build, "(go mod download", finished);
  return (JSON.parse(finished.stdout) as { Dir: string }).Dir;
}

function buildFailed({ codePrefix, what }: GoBuild, step: string, finished: Finished): BuildFailure {
  return new BuildFailure(
    `${codePrefix}_build_failed`,
    `building ${what} failed ${step}, exit code ${finished.code}):\n${tail(finished)}`,
    "Read Go's message above. Modules come from GOPROXY (go env GOPROXY): it must be reachable once.",
  );
}

async function findGo(build: GoBuild): Promise<string> {
  const wanted = /^go (\S+)$/m.exec(await readFile(join(build.module, "go.mod"), "utf8"))?.[1] ?? "1.21";
  // Run this inside the module: Go 1.21 and later switch to the toolchain in go.mod, or report why they cannot.
  const asked = await runProcess("go", ["env", "GOVERSION"], { cwd: build.module, env: build.env });
  if (asked.missing) throw goMissing(build, `${build.what} must be built, but Go is not installed`, wanted);
  const version = asked.stdout.trim();
  if (asked.code === 0 && !isOlder(version.replace(/^go/, ""), wanted)) return version;
  const said = asked.code === 0 ? `it is ${version}` : tail(asked, 3);
  throw goMissing(
    build,
    `the installed Go cannot build ${build.what}, which needs Go ${wanted}: ${said}`,
    wanted,
  );
}

function goMissing(build: GoBuild, message: string, wanted: string): BuildFailure {
  return new BuildFailure(
    `${build.codePrefix}_go_missing`,
    message,
    `Install Go ${wanted} or newer (https://go.dev/doc/install) and put it on PATH.`,
  );
}

/** Returns true if a dotted version is older than another. A part that is not a number counts as 0. */
export function isOlder(version: string, wanted: string): boolean {
  const [have, want] = [parts(version), parts(wanted)];
  for (let index = 0; index < want.length; index += 1) {
    const difference = (have[index] ?? 0) - (want[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function parts(version: string): number[] {
  return version.split(".").map((part) => Number.parseInt(part, 10) || 0);
}
