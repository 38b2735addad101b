import { readFile } from "node:fs/promises";
import path from "node:path";

/** Source files read what `npm run client` built. In a bundle, the folder is beside those of the programs. */
const FOLDER = path.resolve(
  import.meta.dirname,
  import.meta.filename.endsWith(".ts") ? "../../dist/assets" : "../assets",
);

/**
 * Reads a gzipped style or script of the pages from disk; `undefined` if there is no such file.
 *
 * @param name file name without a folder, already checked
 */
export async function readAsset(name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return new Uint8Array(await readFile(path.join(FOLDER, `${name}.gz`)));
  } catch {
    return undefined;
  }
}
