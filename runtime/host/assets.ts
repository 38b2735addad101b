import { readFile } from "node:fs/promises";
import path from "node:path";

/** Folder of stylesheets and scripts, built by `npm run client`. */
const FOLDER = path.resolve(
  import.meta.dirname,
  import.meta.filename.endsWith(".ts") ? "../../dist/assets" : "../assets",
);

/**
 * Reads a gzipped stylesheet or script from disk. Returns `undefined` if it does not exist.
 *
 * @param name File name without a folder, already validated.
 */
export async function readAsset(name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return new Uint8Array(await readFile(path.join(FOLDER, `${name}.gz`)));
  } catch {
    return undefined;
  }
}
