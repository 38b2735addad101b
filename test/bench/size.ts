import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Bundle } from "../../infra/bundle/bundle.ts";
import { docker } from "../../infra/shell/docker.ts";
import { stewardImage } from "../../infra/bundle/image.ts";
import { figure, type Figure } from "../support/measure.ts";

const MB = 1_000_000;

/** Measures the container's bundle. Its bound, and what of it no start loads, are in decisions 18 and 28. */
export async function benchSize(bundle: Bundle): Promise<Figure[]> {
  return [figure("container bundle", "MB", [(await folderBytes(bundle.container.dir)) / MB], 8)];
}

/** The image as the engine keeps it. */
export async function imageSize(bundle: Bundle, log: (line: string) => void): Promise<Figure> {
  const { image } = await stewardImage(bundle, log);
  const { stdout } = await docker(["image", "inspect", "--format={{.Size}}", image]);
  return figure("image with its base", "MB", [Number(stdout.trim()) / MB], 200);
}

/** Bytes of all files in a folder. */
export async function folderBytes(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(
    names.map(async (name) => {
      const found = await stat(join(folder, name));
      return found.isFile() ? found.size : 0;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
