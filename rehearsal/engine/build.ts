import { appendFile, cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { contentKey, withFileLock, createFolderAtomically } from "../../infra/shell/cache.ts";
import { runProcess } from "../../infra/shell/process.ts";
import { downloadModule, goBuild, type GoBuild } from "./go.ts";
import { isExecutable } from "./plugins.ts";

/** Folder of the Go module that pins the engine's version: the newest version that public Go proxies offer. */
export const ENGINE_MODULE = join(import.meta.dirname, "pulumi");

/** Returns flags that set the CLI's version. The Automation API rejects a CLI without a version. */
function linkerFlags(version: string): string {
  return `-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v${version}`;
}

/**
 * Libraries that rate passwords in `pulumi config set`. The build patches these libraries to make other commands
 * start faster.
 */
const METERS = ["github.com/nbutton23/zxcvbn-go", "github.com/ccojocar/zxcvbn-go"];

/**
 * Source patches for each file, as `[from, to]` pairs. With them, each of the {@link METERS} reads its word lists on
 * first use instead of at program start.
 */
const METER_PATCHES: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  "frequency/frequency.go": [["func init() {", "func Load() {"]],
  "matching/matching.go": [
    ["func init() {\n\tloadFrequencyList()\n}\n", ""],
    ["func loadFrequencyList() {\n", "func loadFrequencyList() {\n\tfrequency.Load()\n"],
  ],
};

/** A pinned engine, which might not be built yet, and its cache folder. */
export interface EnginePlace {
  /** Without a leading v. */
  version: string;
  module: string;
  folder: string;
  cli: string;
}

export interface EngineBuildOptions {
  root: string;
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
}

/** Locates an engine in the cache. The cache key covers the pinned modules, linker flags, patches and platform. */
export async function enginePlace(root: string, module: string): Promise<EnginePlace> {
  const required = await readFile(join(module, "go.mod"), "utf8");
  const [, version = ""] = /pulumi\/pkg\/v3 v(\S+)/.exec(required) ?? [];
  const texts = [linkerFlags(version), JSON.stringify(METER_PATCHES), process.platform, process.arch];
  const key = await contentKey(texts, module, /^go\.(mod|sum)$/);
  const folder = join(root, `cli-${version}-${key}`);
  return { version, module, folder, cli: join(folder, "bin", "pulumi") };
}

export async function buildEngine(
  place: EnginePlace,
  { env, log }: Omit<EngineBuildOptions, "root">,
): Promise<"cache" | "built"> {
  if (await isExecutable(place.cli)) return "cache";
  const { version } = place;
  const build = async (target: string): Promise<void> => {
    const module = join(target, "module");
    const engine = {
      what: `the Pulumi engine ${version}`,
      codePrefix: "engine",
      module,
      command: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
      output: join(target, "bin", "pulumi"),
      ldflags: linkerFlags(version),
      log,
      env,
    };
    await cp(place.module, module, { recursive: true });
    const required = await readFile(join(module, "go.mod"), "utf8");
    const prepare = async (): Promise<void> => {
      for (const meter of METERS) if (required.includes(`\t${meter} `)) await patchMeter(engine, meter);
    };
    await goBuild({ ...engine, prepare });
    await rm(module, { recursive: true });
  };
  return buildOnce(place.folder, place.cli, build, log);
}

/** Makes the build use a patched copy of a password-rating library. */
async function patchMeter(build: GoBuild, meter: string): Promise<void> {
  const copy = join(build.module, meter);
  // Copy the library and make the copy writable, because files in Go's module cache are read-only.
  await cp(await downloadModule(build, meter), copy, { recursive: true });
  await runProcess("chmod", ["-R", "u+w", copy]);
  for (const [name, changes] of Object.entries(METER_PATCHES)) {
    const file = join(copy, name);
    let text = await readFile(file, "utf8");
    for (const [from, to] of changes) text = text.replace(from, to);
    await writeFile(file, text);
  }
  // Create a go.mod if the library has none: a `replace` directive requires the file.
  await writeFile(join(copy, "go.mod"), `module ${meter}\n`, { flag: "wx" }).catch(() => undefined);
  await appendFile(join(build.module, "go.mod"), `\nreplace ${meter} => ./${meter}\n`);
}

/** Runs `build` under a lock. If another process has already built the executable, resolves to "cache" instead. */
export function buildOnce(
  folder: string,
  executable: string,
  build: (target: string) => Promise<void>,
  log: (line: string) => void,
): Promise<"cache" | "built"> {
  return withFileLock(
    `${folder}.lock`,
    async () => {
      if (await isExecutable(executable)) return "cache";
      await createFolderAtomically(folder, build);
      return "built";
    },
    () => log("waiting for another process that is building the same"),
  );
}
