import { mkdtemp, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../infra/shell/package.ts";
import { execute } from "../../scripts/execute.ts";
import { figure, type Figure } from "../support/measure.ts";
import { folderBytes } from "./size.ts";

const MB = 1_000_000;
/** Options of `npm install`. */
export const QUIET = ["--prefer-offline", "--no-audit", "--no-fund"];

/** Packs the package into a folder and returns its file. */
export async function packPackage(folder: string): Promise<string> {
  const said = await execute(process.execPath, ["scripts/package.ts", "--out", folder], { cwd: ROOT });
  return said.trim().split("\n").at(-1) ?? "";
}

/** Size of the package, and of a project that has it; its installation beside that of Pulumi's SDK alone. */
export async function benchPackage(runs: number, folder: string): Promise<Figure[]> {
  const file = await packPackage(folder);
  const { dependencies } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const bare = `@pulumi/pulumi@${dependencies["@pulumi/pulumi"]}`;

  const seconds: Record<string, number[]> = { [file]: [], [bare]: [] };
  const sizes: number[] = [];
  // The first pass fills npm's cache.
  for (let pass = 0; pass <= runs; pass += 1) {
    for (const [name, taken] of Object.entries(seconds)) {
      const project = await mkdtemp(join(folder, "project-"));
      const started = performance.now();
      await execute("npm", ["install", ...QUIET, name], { cwd: project });
      if (pass > 0) taken.push((performance.now() - started) / 1000);
      if (pass > 0 && name === file) sizes.push((await folderBytes(project)) / MB);
    }
  }
  return [
    figure("package, packed", "MB", [(await stat(file)).size / MB], 6),
    figure("project with the package", "MB", sizes),
    figure("npm install of the package, from npm's cache", "s", seconds[file] ?? []),
    figure("npm install of @pulumi/pulumi alone, from npm's cache", "s", seconds[bare] ?? []),
  ];
}
