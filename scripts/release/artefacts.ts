import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { stewardImage } from "../../infra/bundle/image.ts";
import type { BuildRecord } from "../../infra/bundle/released.ts";
import { docker, requireDocker } from "../../infra/shell/docker.ts";
import { BuildFailure } from "../../infra/shell/failure.ts";
import { PACKAGE, ROOT } from "../../infra/shell/package.ts";
import { execute } from "../execute.ts";

/** File of the folder of artefacts that says what the others are. */
const RECORD = "release.json";
/** Checksums, in the form that `sha256sum --check` reads. */
export const SUMS = "SHA256SUMS";
const SIGNATURE = ".sigstore.json";
const IMAGE = /^image-(\w+)\.tar$/;

/** Contents of `release.json`: the jobs of a workflow hand it from one to the next. */
const recordSchema = z.strictObject({
  version: z.string(),
  /** Commit of the sources. */
  commit: z.string(),
  /** File of the package. */
  package: z.string(),
  /** Hash that names the image, which follows from the bundle inside the package. */
  imageHash: z.string(),
  /** The image by digest, once it is pushed. */
  image: z.string().optional(),
});
/** See {@link recordSchema}. */
export type ReleaseRecord = z.infer<typeof recordSchema>;

/**
 * Builds the package into an empty folder, with a bill of materials of each program in it. A former release in that folder
 * is removed.
 *
 * @param commit of the sources
 * @param image where the image will be, and who signs it
 * @throws BuildFailure `release_folder_taken` if the folder has other files
 */
export async function buildPackage(
  folder: string,
  { version, commit, image }: { version: string; commit: string; image: NonNullable<BuildRecord["image"]> },
): Promise<ReleaseRecord> {
  await emptyFolder(folder);
  await mkdir(folder, { recursive: true });
  const node = (script: string, ...words: string[]): Promise<string> =>
    execute(process.execPath, [path.join(ROOT, script), "--out", folder, ...words], { cwd: ROOT });
  await node("scripts/package.ts", "--image", JSON.stringify(image));
  await node("infra/bundle/sbom.ts");
  const file = `${PACKAGE}-${version}.tgz`;
  const built = await execute("tar", ["-xOzf", path.join(folder, file), "package/dist/released.json"]);
  const { container: imageHash } = z.object({ container: z.string() }).parse(JSON.parse(built));
  const record = { version, commit, package: file, imageHash };
  await writeRecord(folder, record);
  return record;
}

async function emptyFolder(folder: string): Promise<void> {
  const names = existsSync(folder) ? await readdir(folder) : [];
  if (names.length > 0 && !names.includes(RECORD)) {
    throw new BuildFailure(
      "release_folder_taken",
      `${folder} has files that are no release: ${names.slice(0, 3).join(", ")}`,
      "Name another folder by --out, or empty this one.",
    );
  }
  await rm(folder, { recursive: true, force: true });
}

/** @throws BuildFailure `release_not_built` */
export async function readRecord(folder: string): Promise<ReleaseRecord> {
  const text = await readFile(path.join(folder, RECORD), "utf8").catch(() => undefined);
  if (text !== undefined) return recordSchema.parse(JSON.parse(text));
  throw new BuildFailure("release_not_built", `there is no release in ${folder}`, "npm run release -- build");
}

export function writeRecord(folder: string, record: ReleaseRecord): Promise<void> {
  return writeFile(path.join(folder, RECORD), `${JSON.stringify(record, undefined, 2)}\n`);
}

/**
 * Builds the image for the Docker engine's processor from the bundle that is in the package, and saves it into the folder
 * with its bill of materials. The engine keeps the image too, for the tests.
 *
 * @throws BuildFailure `image_differs` if this checkout builds another bundle than that of the package; others of the
 * build
 */
export async function buildImage(
  folder: string,
  { imageHash, version }: ReleaseRecord,
  log: (line: string) => void,
): Promise<void> {
  const { arch } = await requireDocker();
  const bundle = await buildBundle();
  if (bundle.container.hash !== imageHash) {
    throw new BuildFailure(
      "image_differs",
      `this checkout builds the image ${bundle.container.hash}, and the package in ${folder} has ${imageHash}`,
      "npm run release -- build",
    );
  }
  const { image } = await stewardImage(bundle, log);
  const name = localImage(version, arch);
  await docker(["tag", image, name]);
  try {
    await docker(["save", "--output", path.join(folder, `image-${arch}.tar`), name]);
  } finally {
    await docker(["image", "rm", name]);
  }
  const bills = path.join(folder, "bills");
  const words = [path.join(ROOT, "infra/bundle/sbom.ts"), "--image", "--out", bills];
  await execute(process.execPath, words, { cwd: ROOT });
  await rename(path.join(bills, "image.cdx.json"), path.join(folder, billOfImage(arch)));
  await rm(bills, { recursive: true });
}

/** Name of a saved image at the engine that loads it. */
export const localImage = (version: string, arch: string): string => `steward-release:${version}-${arch}`;

/** File with the bill of materials of the image for one processor. */
export const billOfImage = (arch: string): string => `image-${arch}.cdx.json`;

/** Returns the saved images of a folder, by processor as Docker names it. */
export async function savedImages(folder: string): Promise<{ arch: string; file: string }[]> {
  const found = (await readdir(folder)).sort().map((name) => IMAGE.exec(name));
  return found.flatMap((match) => {
    if (match === null) return [];
    const [name, arch = ""] = match;
    return [{ arch, file: path.join(folder, name) }];
  });
}

/** Returns the files that a release offers for download: all but the images, which a registry has, and signatures. */
export async function offeredFiles(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).sort();
  return names.filter((name) => name !== SUMS && !IMAGE.test(name) && !name.endsWith(SIGNATURE));
}

/** Writes the SHA-256 checksums of all files that a release offers. */
export async function writeChecksums(folder: string): Promise<void> {
  const names = await offeredFiles(folder);
  const lines = names.map(async (name) => {
    const content = await readFile(path.join(folder, name));
    return `${createHash("sha256").update(content).digest("hex")}  ${name}\n`;
  });
  await writeFile(path.join(folder, SUMS), (await Promise.all(lines)).join(""));
}

/** Returns the file of a signature, which has its certificate in it. */
export const signatureOf = (file: string): string => `${file}${SIGNATURE}`;
