import { writeFile } from "node:fs/promises";
import path, { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { build, type BuildOptions, type OutputFile, type Plugin } from "esbuild";
import { pack } from "tar-stream";
import { ROOT } from "../shell/package.ts";

/** Every file of the image has this time, so that the same sources give the same layer. */
const FIXED_TIME = new Date(1_700_000_000_000);

/** Programs as they are deployed, by path, and the files of this checkout that they were made of. */
interface Bundled {
  files: Files;
  read: string[];
}

/**
 * Messages are in English. The libraries take zod as one object, which brings its translations along: more
 * than half of what the gateway would load.
 */
const ENGLISH_ONLY: Plugin = {
  name: "english-only",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[/\\]zod[/\\]v4[/\\]locales[/\\]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    })),
};

/**
 * Node's modules as `require` gives them. An `import` of one reads every export it has, and some of them load
 * others: `ReadStream` of `node:fs` the streams, `WebSocket` of `node:http` the whole of undici, which is 25 ms
 * and 12 MB of a process that may never need it.
 */
const PLAIN_BUILTINS: Plugin = {
  name: "plain-builtins",
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /^node:/ }, ({ path: name, kind }) =>
      // What is imported when it is needed is left to Node.
      kind === "dynamic-import" ? { path: name, external: true } : { path: name, namespace: "builtin" },
    );
    onLoad({ filter: /.*/, namespace: "builtin" }, ({ path: name }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(name)});`,
    }));
  },
};

const COMMON = {
  absWorkingDir: ROOT,
  // The names of chunks depend on the files' paths: a linked node_modules gives the same ones as a folder.
  preserveSymlinks: true,
  bundle: true,
  format: "esm",
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  target: "es2024",
  write: false,
  metafile: true,
  logLevel: "silent",
  plugins: [ENGLISH_ONLY],
} satisfies BuildOptions;

// Identifiers are not minified: stack traces show them, and minifying with `keepNames` costs more CPU at the start than
// parsing the longer names.
const WORKER: BuildOptions = {
  ...COMMON,
  entryPoints: { index: "runtime/worker/worker.ts" },
  outdir: "dist/worker",
  platform: "browser",
  conditions: ["workerd", "worker", "browser"],
  external: ["cloudflare:*", "node:*"],
};

const CONTAINER: BuildOptions = {
  ...COMMON,
  minifyIdentifiers: true,
  // Names are what a stack trace shows.
  keepNames: true,
  plugins: [...COMMON.plugins, PLAIN_BUILTINS],
  outbase: "runtime",
  outdir: "dist/container",
  platform: "node",
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
  // Packages written for CommonJS ask for Node's modules by require.
  banner: {
    js: 'const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);',
  },
};

/**
 * Entry points that are bundled together. The gateway and the supervisor are bundled separately: together with the
 * others they would be split into one file for each set of programs that share code, and a start that everyone waits
 * for would load two dozen files.
 */
const PROGRAMS = [
  ["runtime/gateway/main.ts"],
  ["runtime/supervisor/main.ts"],
  ["runtime/host/main.ts", "runtime/gateway/cli/main.ts"],
  ["runtime/host/warm.ts"],
];

/** The Worker's one module. */
export function bundleWorker(): Promise<Bundled> {
  return bundled(WORKER, "dist/worker");
}

/** Returns what the container runs. */
export async function bundleContainer(): Promise<Bundled> {
  const programs = await Promise.all(
    PROGRAMS.map((entryPoints) => bundled({ ...CONTAINER, entryPoints }, "dist/container")),
  );
  return {
    files: new Map(programs.flatMap(({ files }) => Array.from(files))),
    read: programs.flatMap(({ read }) => read),
  };
}

async function bundled(options: BuildOptions, outdir: string): Promise<Bundled> {
  const { outputFiles = [], metafile } = await build(options);
  const named = outputFiles.map((file: OutputFile): [string, Uint8Array] => [
    path.relative(path.join(ROOT, outdir), file.path).split(path.sep).join("/"),
    file.contents,
  ]);
  const inputs = Object.keys(metafile?.inputs ?? {});
  return { files: new Map(named.sort(byName)), read: inputs.filter((name) => !name.startsWith("builtin:")) };
}

/** Sorts entries by their names. */
export function byName([a]: [string, Uint8Array], [b]: [string, Uint8Array]): number {
  return a < b ? -1 : 1;
}

/** Contents by their path below /app, in the order of their names. */
export type Files = ReadonlyMap<string, Uint8Array>;

/**
 * Writes a build context: one archive with the content of /app in the image. The archive sets everything that a builder
 * would otherwise take from this machine and the current time, such as the times of folders.
 */
export async function writeContext(files: Files, folder: string): Promise<void> {
  const archive = pack();
  const common = { mtime: FIXED_TIME, uid: 0, gid: 0, uname: "root", gname: "root" };
  for (const name of foldersOf(files)) archive.entry({ ...common, name, type: "directory", mode: 0o755 });
  for (const [name, content] of files) {
    archive.entry({ ...common, name: `app/${name}`, mode: modeOf(name) }, Buffer.from(content));
  }
  archive.finalize();
  await writeFile(join(folder, "app.tar"), await buffer(archive));
}

/** Mode of a file: what is on the PATH can be run; everyone may read everything. */
export function modeOf(name: string): number {
  return name.startsWith("bin/") ? 0o755 : 0o644;
}

function foldersOf(files: Files): string[] {
  const folders = new Set<string>();
  for (const name of files.keys()) {
    for (let folder = dirname(`app/${name}`); folder !== "."; folder = dirname(folder)) folders.add(folder);
  }
  return [...folders].sort();
}
