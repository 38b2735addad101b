import path from "node:path";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import { build, type BuildOptions, type Plugin } from "esbuild";
import { configJsonSchema } from "../../runtime/contract/config/json-schema.ts";
import { readSource } from "../shell/cache.ts";
import { ROOT } from "../shell/package.ts";

/** Source files of the pages' assets, by their unhashed names. */
const ENTRIES = {
  "console.css": "runtime/edge/ui/console.css",
  "chat.css": "runtime/edge/ui/chat.css",
  "live.js": "runtime/edge/client/live.ts",
  "usage.js": "runtime/edge/client/usage.ts",
  "logs.js": "runtime/edge/client/logs.ts",
  "chat.js": "runtime/edge/client/chat.ts",
  "editor.js": "runtime/edge/client/editor.ts",
  "icon.svg": "runtime/edge/ui/icon.svg",
  "icon.png": "runtime/edge/ui/icon.png",
};

export interface Assets {
  /** Gzipped content by file name. */
  files: ReadonlyMap<string, Uint8Array>;
  /** Actual file names by unhashed name, such as `live.js`. */
  names: Readonly<Record<string, string>>;
  read: string[];
}

/**
 * Bundles and compresses the pages' assets.
 *
 * @param hashed adds a content hash to each file name, so that browsers may cache the files
 */
export async function bundleAssets({ hashed }: { hashed: boolean }): Promise<Assets> {
  const outdir = path.join(ROOT, "dist/assets");
  const { outputFiles = [], metafile } = await build({
    absWorkingDir: ROOT,
    preserveSymlinks: true,
    entryPoints: Object.entries(ENTRIES).map(([name, file]) => ({
      in: file,
      out: name.replace(/\.\w+$/, ""),
    })),
    outdir,
    entryNames: hashed ? "[name]-[hash]" : "[name]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    minify: true,
    format: "esm",
    target: ["es2022", "chrome123", "firefox120", "safari17.5"],
    loader: { ".png": "copy" },
    plugins: [svgFiles],
    legalComments: "none",
    // For the editor.
    define: { CONFIG_SCHEMA: JSON.stringify(configJsonSchema()) },
    logLevel: "silent",
  } satisfies BuildOptions);
  const compressed = outputFiles.map(async (file): Promise<[string, Uint8Array]> => [
    path.relative(outdir, file.path),
    await promisify(gzip)(file.contents, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  const outputs = Object.entries(metafile?.outputs ?? {});
  const names = Object.entries(ENTRIES).map(([name, source]): [string, string] => {
    const made = outputs.find(([, { entryPoint }]) => entryPoint === source)?.[0] ?? "";
    return [name, path.basename(made)];
  });
  return {
    files: new Map((await Promise.all(compressed)).sort(byUnhashedName)),
    names: Object.fromEntries(names),
    read: Object.keys(metafile?.inputs ?? {}),
  };
}

const svgFiles: Plugin = {
  name: "svg",
  setup({ onLoad }) {
    onLoad({ filter: /\.svg$/ }, async ({ path: file }) => ({
      contents: await readSource(file),
      loader: "copy",
    }));
  },
};

/** Compares unhashed names, so that the order does not depend on contents. */
function byUnhashedName([a]: [string, Uint8Array], [b]: [string, Uint8Array]): number {
  const [first, second] = [a, b].map((name) => `${name.replace(/-[A-Z0-9]{8}\./, ".")} ${name}`);
  return String(first) < String(second) ? -1 : 1;
}
