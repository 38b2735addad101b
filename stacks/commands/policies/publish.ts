import { mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import { buildPolicyPack } from "../../../policies/build.ts";
import { run, tail } from "../../../infra/shell/process.ts";

/** What a folder that this has made before holds; another one is somebody's own. */
const MADE = new Set(["PulumiPolicy.yaml", "index.cjs", "package.json", "package-lock.json", "node_modules"]);
const INSTALL = ["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];

/**
 * Makes the policy pack in a folder, with its packages from the registry: it runs from wherever the folder is, and
 * `pulumi policy publish` takes it from there.
 *
 * @returns what to do with it, for people.
 */
export async function preparePublication(folder: string, say: (line: string) => void): Promise<string> {
  const target = path.resolve(folder);
  await mkdir(target, { recursive: true });
  const foreign = (await readdir(target)).filter((name) => !MADE.has(name));
  if (foreign.length > 0) {
    throw new Error(`${folder} holds ${foreign.sort().join(", ")}. Fix: give a new or an empty folder`);
  }
  await buildPolicyPack(target);
  say("installing the pack's packages");
  const installed = await run("npm", INSTALL, { cwd: target });
  if (installed.code !== 0) {
    throw new Error(
      `npm install failed in ${folder}: ${tail(installed, 5)}. Fix: reach the package registry once`,
    );
  }
  return `The pack is in ${target}. To publish it: cd ${target} && pulumi policy publish <organization>`;
}
