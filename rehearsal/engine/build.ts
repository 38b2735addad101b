import { appendFile, cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { contentKey, withFileLock, createFolderAtomically } from "../../infra/shell/cache.ts";
import { runProcess } from "../../infra/shell/process.ts";
import { downloadModule, goBuild, type GoBuild } from "./go.ts";
import { isExecutable } from "./plugins.ts";

/** Folder of the Go module that pins the engine: the newest that public proxies serve. */
export const ENGINE_MODULE = join(import.meta.dirname, "pulumi");

/** The Automation API refuses a CLI that doesn't know its own version, and the linker is what tells it. */
function linkerFlags(version: string): string {
  return `-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v${version}`;
}

/**
 * The copies of the password meter that a CLI may link: it rates what looks like a secret in `pulumi config set`. Each
 * reads its word lists in every command, which is more than half of a short one's time.
 */
const METERS = ["github.com/nbutton23/zxcvbn-go", "github.com/ccojocar/zxcvbn-go"];

/** Changes in a meter by file, after which it reads its word lists when it is first asked: `[from, to]`. */
const READ_LATE: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  "frequency/frequency.go": [["func init() {", "func Load() {"]],
  "matching/matching.go": [
    ["func init() {\n\tloadFrequencyList()\n}\n", ""],
    ["func loadFrequencyList() {\n", "func loadFrequencyList() {\n\tfrequency.Load()\n"],
  ],
};

/** A pinned engine, and where the cache keeps it, whether it is there yet or not. */
export interface EnginePlace {
  /** Without a leading v. */
  version: string;
  /** Folder of its Go module. */
  module: string;
  folder: string;
  cli: string;
}

/** What a build into the cache needs to know. */
export interface EngineBuildOptions {
  /** Folder of the cache for everything about the engine. */
  root: string;
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
}

/** Returns the engine's place in the cache, which follows from its pinned modules, the flags and this machine's kind. */
export async function enginePlace(root: string, module: string): Promise<EnginePlace> {
  const required = await readFile(join(module, "go.mod"), "utf8");
  const [, version = ""] = /pulumi\/pkg\/v3 v(\S+)/.exec(required) ?? [];
  const texts = [linkerFlags(version), JSON.stringify(READ_LATE), process.platform, process.arch];
  const key = await contentKey(texts, module, /^go\.(mod|sum)$/);
  const folder = join(root, `cli-${version}-${key}`);
  return { version, module, folder, cli: join(folder, "bin", "pulumi") };
}

/** Builds an engine into its place, unless it is there. */
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
      for (const meter of METERS) if (required.includes(`\t${meter} `)) await readLate(engine, meter);
    };
    await goBuild({ ...engine, prepare });
    await rm(module, { recursive: true });
  };
  return buildOnce(place.folder, place.cli, build, log);
}

/** Replaces a password meter by a copy of it beside go.mod that reads its word lists late. */
async function readLate(build: GoBuild, meter: string): Promise<void> {
  const copy = join(build.module, meter);
  // The files of Go's module cache are read-only.
  await cp(await downloadModule(build, meter), copy, { recursive: true });
  await runProcess("chmod", ["-R", "u+w", copy]);
  for (const [name, changes] of Object.entries(READ_LATE)) {
    const file = join(copy, name);
    let text = await readFile(file, "utf8");
    for (const [from, to] of changes) text = text.replace(from, to);
    await writeFile(file, text);
  }
  // One of them is from before modules.
  await writeFile(join(copy, "go.mod"), `module ${meter}\n`, { flag: "wx" }).catch(() => undefined);
  await appendFile(join(build.module, "go.mod"), `\nreplace ${meter} => ./${meter}\n`);
}

/** Builds into the cache unless another process has just done so, and says which of the two it was. */
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
    () => log("another process is building the same: waiting for it"),
  );
}
