import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { pack } from "tar-stream";

/** Contents by their path below /app, in the order of their names. */
export type Files = ReadonlyMap<string, Uint8Array>;

/** Every file of the image has this time, so that the same sources give the same layer. */
const FIXED_TIME = new Date(1_700_000_000_000);

/**
 * Writes a build context: one archive of what the image has in /app, with everything in it that a builder
 * would else take from this machine and this moment, such as the folders' times.
 */
export async function writeContext(files: Files, folder: string): Promise<void> {
  const archive = pack();
  const common = { mtime: FIXED_TIME, uid: 0, gid: 0, uname: "root", gname: "root" };
  for (const name of foldersOf(files)) archive.entry({ ...common, name, type: "directory", mode: 0o755 });
  for (const [name, content] of files) {
    archive.entry({ ...common, name: `app/${name}`, mode: modeOf(name) }, Buffer.from(content));
  }
  archive.finalize();
  await writeFile(join(folder, "app.tar"), await buffer(archive));
}

/** What is on the PATH can be run; everyone may read everything. */
export function modeOf(name: string): number {
  return name.startsWith("bin/") ? 0o755 : 0o644;
}

function foldersOf(files: Files): string[] {
  const folders = new Set<string>();
  for (const name of files.keys()) {
    for (let folder = dirname(`app/${name}`); folder !== "."; folder = dirname(folder)) folders.add(folder);
  }
  return [...folders].sort();
}
