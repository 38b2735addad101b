import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { VERSION } from "../runtime/contract/names.ts";

const ROOT = resolve(import.meta.dirname, "..");

/**
 * Makes the policy pack as the engine takes it. Its packages stay outside of the bundle: put it
 * where Node finds the project's `node_modules` from.
 *
 * @param outdir Default: `dist/policies` of this checkout.
 * @returns the pack's folder, for `pulumi preview --policy-pack`.
 */
export async function buildPolicyPack(outdir = join(ROOT, "dist/policies")): Promise<string> {
  await mkdir(outdir, { recursive: true });
  await build({
    absWorkingDir: ROOT,
    entryPoints: ["policies/index.ts"],
    outfile: join(outdir, "index.cjs"),
    bundle: true,
    platform: "node",
    format: "cjs",
    packages: "external",
    logLevel: "silent",
  });
  await copyFile(join(import.meta.dirname, "PulumiPolicy.yaml"), join(outdir, "PulumiPolicy.yaml"));
  const manifest = { name: "steward", version: VERSION, main: "index.cjs", private: true };
  await writeFile(join(outdir, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  return outdir;
}
