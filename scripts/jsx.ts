/**
 * Lets Node run the web pages' JSX from source: `node --import ./scripts/jsx.ts runtime/host/main.ts`. Node strips
 * types but does not compile JSX.
 */
import { globSync } from "node:fs";
import { registerHooks } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const ROOT = path.resolve(import.meta.dirname, "..");
const OUT = path.join(ROOT, "dist/jsx");

const { outputFiles } = buildSync({
  absWorkingDir: ROOT,
  entryPoints: globSync("runtime/**/*.tsx", { cwd: ROOT }),
  outbase: ROOT,
  outdir: OUT,
  outExtension: { ".js": ".tsx" },
  format: "esm",
  target: "es2024",
  sourcemap: "inline",
  write: false,
});
const compiled = new Map(outputFiles.map((file) => [path.relative(OUT, file.path), file.text]));

registerHooks({
  load(url, context, nextLoad) {
    const source = url.endsWith(".tsx") ? compiled.get(path.relative(ROOT, fileURLToPath(url))) : undefined;
    return source === undefined ? nextLoad(url, context) : { format: "module", source, shortCircuit: true };
  },
});
