import { readFile, writeFile } from "node:fs/promises";
import path, { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { build, type BuildOptions, type OutputFile, type Plugin } from "esbuild";
import { pack } from "tar-stream";
import { ROOT } from "../shell/package.ts";
import type { Assets } from "./assets.ts";

/** Modification time of all files, fixed so that the same sources give the same image layer. */
const FIXED_TIME = new Date(1_700_000_000_000);

interface Bundled {
  files: Files;
  read: string[];
}

/** Keeps only zod's English messages. All translations would be more than half of the gateway's code. */
const ENGLISH_ONLY: Plugin = {
  name: "english-only",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[/\\]zod[/\\]v4[/\\]locales[/\\]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    })),
};

/** Omits the texts of deployment errors, which make up a tenth of the Worker's own code. */
const NO_DEPLOYMENT_ERRORS: Plugin = {
  name: "no-deployment-errors",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[/\\]contract[/\\]error-texts[/\\]deployment\.ts$/ }, () => ({
      contents: "export const DEPLOYMENT_ERRORS = {};",
    })),
};

/**
 * Loads Node's built-in modules as `require` does. An `import` reads every export, which can load more modules:
 * `WebSocket` of `node:http` loads undici, which costs 25 ms and 12 MB.
 */
const PLAIN_BUILTINS: Plugin = {
  name: "plain-builtins",
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /^node:/ }, ({ path: name, kind }) =>
      // Node resolves dynamic imports of built-in modules at run time.
      kind === "dynamic-import" ? { path: name, external: true } : { path: name, namespace: "builtin" },
    );
    onLoad({ filter: /.*/, namespace: "builtin" }, ({ path: name }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(name)});`,
    }));
  },
};

function assetNames({ names }: Assets): Plugin {
  return {
    name: "asset-names",
    setup: ({ onLoad }) =>
      onLoad({ filter: /[/\\]edge[/\\]ui[/\\]asset-names\.ts$/ }, () => ({
        contents: `export const ASSET_NAMES = ${JSON.stringify(names)};`,
      })),
  };
}

/** Makes the Worker read assets from separate modules, which load on first use. */
function workerAssets({ files }: Assets): Plugin {
  const loaders = [...files.keys()].map(
    (name) => `[${JSON.stringify(name)}, () => import("./assets/${name}.gz")]`,
  );
  return {
    name: "worker-assets",
    setup: ({ onLoad, onResolve }) => {
      onResolve({ filter: /^\.\/assets\/[^/]+\.gz$/ }, ({ path: name }) => ({ path: name, external: true }));
      onLoad({ filter: /[/\\]worker[/\\]assets\.ts$/ }, () => ({
        contents: `const loaders = new Map([${loaders.join(", ")}]);
export async function readAsset(name) {
  const loaded = await loaders.get(name)?.();
  return loaded && new Uint8Array(loaded.default);
}`,
      }));
    },
  };
}

function assetFiles({ files }: Assets): [string, Uint8Array][] {
  return [...files].map(([name, content]) => [`assets/${name}.gz`, content]);
}

// Identifiers stay unminified for stack traces. `keepNames` would cost more CPU at startup than parsing longer names.
const COMMON = {
  absWorkingDir: ROOT,
  // Chunk names depend on file paths, which must not change if node_modules is a symbolic link.
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
  plugins: [ENGLISH_ONLY, NO_DEPLOYMENT_ERRORS],
} satisfies BuildOptions;

const WORKER: BuildOptions = {
  ...COMMON,
  entryPoints: { index: "runtime/worker/worker.ts" },
  outdir: "dist/worker",
  platform: "browser",
  conditions: ["workerd", "worker", "browser"],
  external: ["cloudflare:*", "node:*"],
};

const CONTAINER = {
  ...COMMON,
  plugins: [...COMMON.plugins, PLAIN_BUILTINS],
  outbase: "runtime",
  outdir: "dist/container",
  platform: "node",
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
  // Define `require`, which bundled CommonJS packages call for Node's modules.
  banner: {
    js: 'const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);',
  },
} satisfies BuildOptions;

/**
 * Entry points by bundle. Gateway and supervisor are separate, because a common bundle would be split into two dozen
 * files and start slowly.
 */
const PROGRAMS = [
  ["runtime/gateway/main.ts"],
  ["runtime/supervisor/main.ts"],
  ["runtime/host/main.ts", "runtime/gateway/cli/main.ts", "runtime/host/chat-state/main.ts"],
  ["runtime/gateway/media/main.ts"],
  ["runtime/gateway/replay/main.ts"],
  ["runtime/host/warm.ts"],
];

/** WebAssembly files that programs read at run time. */
const CODECS = { "gateway/media/photon.wasm": "node_modules/@cf-wasm/photon/dist/lib/photon_rs_bg.wasm" };

/** Bundles the Worker as one module, plus the pages' assets. */
export async function bundleWorker(assets: Assets): Promise<Bundled> {
  const plugins = [...COMMON.plugins, assetNames(assets), workerAssets(assets)];
  const { files, read } = await bundled({ ...WORKER, plugins }, "dist/worker");
  return { files: new Map([...files, ...assetFiles(assets)]), read: [...read, ...assets.read] };
}

export async function bundleContainer(assets: Assets): Promise<Bundled> {
  const plugins = [...CONTAINER.plugins, assetNames(assets)];
  const programs = await Promise.all(
    PROGRAMS.map((entryPoints) => bundled({ ...CONTAINER, plugins, entryPoints }, "dist/container")),
  );
  const codecs = Object.entries(CODECS).map(async ([name, file]): Promise<[string, Uint8Array]> => [
    name,
    await readFile(path.join(ROOT, file)),
  ]);
  const files = [
    ...programs.flatMap((program) => Array.from(program.files)),
    ...(await Promise.all(codecs)),
    ...assetFiles(assets),
  ];
  return {
    files: new Map(files.sort(byName)),
    read: [...programs.flatMap(({ read }) => read), ...Object.values(CODECS), ...assets.read],
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

export function byName([a]: [string, Uint8Array], [b]: [string, Uint8Array]): number {
  return a < b ? -1 : 1;
}

/** File contents by path below /app, sorted. */
export type Files = ReadonlyMap<string, Uint8Array>;

/** Writes a build context: one archive with /app. Times, owners and modes are the same on every machine. */
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

/** Returns a file's mode: everyone may read the file, and programs in bin/ are executable. */
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
