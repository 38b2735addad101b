import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import zlib from "node:zlib";
import { run } from "../../infra/shell/process.ts";

const { ZSTD_c_compressionLevel: LEVEL, ZSTD_c_enableLongDistanceMatching: LONG } = zlib.constants;
const PARAMS = { [LEVEL]: 19, [LONG]: 1 };

/** Packs a folder. The owners and times of its files are not kept, so equal folders give equal archives. */
export async function pack(folder: string, file: string): Promise<void> {
  const same = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"];
  const plain = `${file}.tar`;
  await tar([...same, "-cf", plain, "-C", folder, "."]);
  await writeFile(file, zlib.zstdCompressSync(await readFile(plain), { params: PARAMS }));
  await rm(plain);
}

/** Unpacks what {@link pack} made. */
export async function unpack(file: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const plain = `${folder}.tar`;
  await writeFile(plain, zlib.zstdDecompressSync(await readFile(file)));
  await tar(["-xf", plain, "-C", folder]);
  await rm(plain);
}

async function tar(words: string[]): Promise<void> {
  const { code, stderr } = await run("tar", words);
  if (code !== 0) throw new Error(`tar: ${stderr}`);
}
