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

const RECORD = "release.json";
/** Checksum file in the format of `sha256sum --check`. */
export const SUMS = "SHA256SUMS";
const SIGNATURE = ".sigstore.json";
const IMAGE = /^image-(\w+)\.tar$/;

/** Contents of `release.json`. */
const recordSchema = z.strictObject({
  version: z.string(),
  commit: z.string(),
  package: z.string(),
  /** Hash of the bundle in the package. */
  imageHash: z.string(),
  /** Name of the pushed image, with its digest. Absent before the push. */
  image: z.string().optional(),
});
export type ReleaseRecord = z.infer<typeof recordSchema>;

/**
 * Builds the package and its bills of materials. Deletes a previous release in the folder.
 *
 * @param image future name of the image, and its signer
 * @throws BuildFailure `release_folder_taken` if the folder contains something else
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
      `${folder} has files that are not a release: ${names.slice(0, 3).join(", ")}`,
      "Choose another folder with --out, or empty this one.",
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
 * Builds the container image for the Docker engine's architecture, and saves it with its bill of materials.
 *
 * @throws BuildFailure `image_differs` if this checkout and the package have different bundles; other codes if the
 * build fails
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

/** Name of an image that Docker loads from its file. */
export const localImage = (version: string, arch: string): string => `steward-release:${version}-${arch}`;

export const billOfImage = (arch: string): string => `image-${arch}.cdx.json`;

/** Architectures are named as Docker names them. */
export async function savedImages(folder: string): Promise<{ arch: string; file: string }[]> {
  const found = (await readdir(folder)).sort().map((name) => IMAGE.exec(name));
  return found.flatMap((match) => {
    if (match === null) return [];
    const [name, arch = ""] = match;
    return [{ arch, file: path.join(folder, name) }];
  });
}

/** Returns the names of the files to offer for download: all except images, checksums and signatures. */
export async function offeredFiles(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).sort();
  return names.filter((name) => name !== SUMS && !IMAGE.test(name) && !name.endsWith(SIGNATURE));
}

export async function writeChecksums(folder: string): Promise<void> {
  const names = await offeredFiles(folder);
  const lines = names.map(async (name) => {
    const content = await readFile(path.join(folder, name));
    return `${createHash("sha256").update(content).digest("hex")}  ${name}\n`;
  });
  await writeFile(path.join(folder, SUMS), (await Promise.all(lines)).join(""));
}

/** Name of a file's signature, which includes the certificate. */
export const signatureOf = (file: string): string => `${file}${SIGNATURE}`;
