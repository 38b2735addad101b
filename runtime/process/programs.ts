import { existsSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const FILE = fileURLToPath(import.meta.url);

/**
 * The folder that holds the programs, each below its own name: `runtime` in source, `/app` in the image. Looked for
 * upwards, since a bundler puts this file wherever it is needed.
 */
export function programsFolder(): string {
  let folder = dirname(FILE);
  while (!existsSync(join(folder, "gateway"))) folder = dirname(folder);
  return folder;
}

/** A program's file, such as `gateway/main`, which has the same extension as this one. */
export function programFile(name: string): string {
  return join(programsFolder(), `${name}${extname(FILE)}`);
}
