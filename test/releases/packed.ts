import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import zlib from "node:zlib";
import { runProcess } from "../../infra/shell/process.ts";

const { ZSTD_c_compressionLevel: LEVEL, ZSTD_c_enableLongDistanceMatching: LONG } = zlib.constants;
const PARAMS = { [LEVEL]: 19, [LONG]: 1 };

const ROOT = path.resolve(import.meta.dirname, "../..");
/** In place of a checkout's folder and of its Node in an archived state. */
const CHECKOUT = "/checkout";
const NODE = "/node";
/** Properties of a state's resource that tell where in a program it was declared. */
const HIDDEN = new Set(["sourcePosition", "stackTrace"]);

/** Returns a state as text that names no place of the machine on which a checkout in `root` deployed it. */
export function portable(state: object, root: string): string {
  return JSON.stringify(state, (key, value: unknown) => {
    if (HIDDEN.has(key)) return undefined;
    if (typeof value !== "string") return value;
    return value.startsWith("/") && value.endsWith("/node") ? NODE : value.replaceAll(root, CHECKOUT);
  });
}

/** Puts this checkout and its Node into what {@link portable} returned. */
export function placed(text: string): string {
  return text.replaceAll(JSON.stringify(NODE), JSON.stringify(process.execPath)).replaceAll(CHECKOUT, ROOT);
}

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
  try {
    await writeFile(plain, zlib.zstdDecompressSync(await readFile(file)));
    await tar(["-xf", plain, "-C", folder]);
  } finally {
    await rm(plain, { force: true });
  }
}

async function tar(words: string[]): Promise<void> {
  const { code, stderr } = await runProcess("tar", words);
  if (code !== 0) throw new Error(`tar: ${stderr}`);
}
