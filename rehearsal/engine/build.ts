import { appendFile, cp, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { cacheRoot, contentKey, exclusively, publish } from "../../infra/shell/cache.ts";
import { run } from "../../infra/shell/process.ts";
import { downloadModule, goBuild, type GoBuild } from "./go.ts";
import { isExecutable } from "./plugins.ts";

/** The newest engine whose module public proxies serve. `pulumi/go.mod` holds the same. */
export const ENGINE_VERSION = "3.250.0";

const MODULE = join(import.meta.dirname, "pulumi");

/** The Automation API refuses a CLI that doesn't know its own version, and the linker is what tells it. */
const LDFLAGS = `-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v${ENGINE_VERSION}`;

/**
 * Both copies of the password meter that the CLI links: it rates what looks like a secret in `pulumi config set`. Each
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

/** Where the cache keeps the project's own engine, whether it is there yet or not. */
export interface EnginePlace {
  folder: string;
  cli: string;
}

/** What a build into the cache needs to know. */
export interface CachedBuild {
  /** Folder of the cache for everything about the engine. */
  root: string;
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
}

/** The place in the cache that follows from the pinned modules, the flags and this machine's kind. */
export async function enginePlace(root: string): Promise<EnginePlace> {
  const texts = [LDFLAGS, JSON.stringify(READ_LATE), process.platform, process.arch];
  const key = await contentKey(texts, MODULE, /^go\.(mod|sum)$/);
  const folder = join(root, `pulumi-${ENGINE_VERSION}-${key}`);
  return { folder, cli: join(folder, "bin", "pulumi") };
}

/** Builds the project's own engine into its place, unless it is there. */
export async function buildEngine(
  place: EnginePlace,
  { env, log }: Omit<CachedBuild, "root">,
): Promise<"cache" | "built"> {
  if (await isExecutable(place.cli)) return "cache";
  const build = async (target: string): Promise<void> => {
    const module = join(target, "module");
    const engine = {
      what: `the Pulumi engine ${ENGINE_VERSION}`,
      codePrefix: "engine",
      module,
      command: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
      output: join(target, "bin", "pulumi"),
      ldflags: LDFLAGS,
      log,
      env,
    };
    await cp(MODULE, module, { recursive: true });
    const prepare = async (): Promise<void> => {
      for (const meter of METERS) await readLate(engine, meter);
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
  await run("chmod", ["-R", "u+w", copy]);
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

/** A program of a pinned Go module that is kept in the cache. */
export interface GoProgram {
  what: string;
  codePrefix: string;
  /** Folder of the Go module, with go.mod and go.sum. */
  module: string;
  /** Import path of the command to build; its last part names the executable. */
  command: string;
  ldflags: string;
  /** Where the cache has it, below its root; the content's key is added. */
  place: string;
}

/** Builds a program into the cache, unless it is there. @returns its executable */
export async function goProgram(
  { place, ...program }: GoProgram,
  { env, log }: Pick<CachedBuild, "env" | "log">,
): Promise<string> {
  const { ldflags, module, command } = program;
  const key = await contentKey([ldflags, process.platform, process.arch], module, /^go\.(mod|sum)$/);
  const folder = join(cacheRoot(env), `${place}-${key}`);
  const executable = join(folder, basename(command));
  if (await isExecutable(executable)) return executable;
  const build = (target: string) =>
    goBuild({ ...program, output: join(target, basename(command)), log, env });
  await buildOnce(folder, executable, build, log);
  return executable;
}

/** Builds into the cache unless another process has just done so, and says which of the two it was. */
export function buildOnce(
  folder: string,
  executable: string,
  build: (target: string) => Promise<void>,
  log: (line: string) => void,
): Promise<"cache" | "built"> {
  return exclusively(
    `${folder}.lock`,
    async () => {
      if (await isExecutable(executable)) return "cache";
      await publish(folder, build);
      return "built";
    },
    () => log("another process is building the same: waiting for it"),
  );
}
