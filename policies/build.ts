import { cp, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { writeFileAtomically } from "../infra/shell/cache.ts";
import { VERSION } from "../runtime/contract/names.ts";

const ROOT = resolve(import.meta.dirname, "..");
/** Folder of the built policy pack. A release already contains it. */
const PACK = join(ROOT, "dist/policies");
const IS_RELEASE = import.meta.filename.endsWith(".js");
/** Dependency that the engine requires in a pack's manifest. */
const RUNS_PACKS = "@pulumi/pulumi";

/**
 * Builds the policy pack. It does not contain npm packages, so Node must find them in a `node_modules` above
 * `outdir`.
 *
 * @param outdir Default: `dist/policies` of this checkout.
 * @returns the pack's folder, for `pulumi preview --policy-pack`.
 */
export async function buildPolicyPack(outdir = PACK): Promise<string> {
  if (IS_RELEASE) {
    if (outdir !== PACK) await cp(PACK, outdir, { recursive: true });
    return outdir;
  }
  const { build } = await import("esbuild");
  const { metafile, outputFiles } = await build({
    metafile: true,
    write: false,
    absWorkingDir: ROOT,
    entryPoints: ["policies/index.ts"],
    outfile: join(outdir, "index.cjs"),
    bundle: true,
    platform: "node",
    format: "cjs",
    packages: "external",
    logLevel: "silent",
  });
  const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  const dependencies = await pinned([...imported, RUNS_PACKS]);
  const manifest = { name: "steward", version: VERSION, main: "index.cjs", private: true, dependencies };
  const files = {
    "index.cjs": outputFiles[0]?.contents ?? "",
    "PulumiPolicy.yaml": await readFile(join(import.meta.dirname, "PulumiPolicy.yaml")),
    "package.json": `${JSON.stringify(manifest, undefined, 2)}\n`,
  };
  for (const [name, content] of Object.entries(files)) await writeFileAtomically(join(outdir, name), content);
  return outdir;
}

/** Returns the pinned dependencies that a published pack must install. */
async function pinned(imported: readonly string[]): Promise<Record<string, string>> {
  const { dependencies } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const uses = (name: string) => imported.some((path) => path === name || path.startsWith(`${name}/`));
  return Object.fromEntries(Object.entries(dependencies).filter(([name]) => uses(name)));
}
