import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { zstdDecompressSync } from "node:zlib";

/** Reads every file below a folder, without installed packages. Names are whole paths. */
export async function filesBelow(folder: string): Promise<[string, Buffer][]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("node_modules"))
    .map(({ parentPath, name }) => path.join(parentPath, name));
  return Promise.all(names.map(async (name): Promise<[string, Buffer]> => [name, await readFile(name)]));
}

/** Tells whether a secret stands in a text: in plain, in hexadecimal, in a URL's form, or in base64. */
export function leaks(content: string, secret: string): boolean {
  // Base64 of a text that stands anywhere in another one ends in what surrounds it: its middle is looked for.
  const middles = ["", " ", "  "].map((before) =>
    Buffer.from(`${before}${secret}`).toString("base64").slice(4, -4),
  );
  const hex = Buffer.from(secret).toString("hex");
  return [secret, hex, hex.toUpperCase(), encodeURIComponent(secret), ...middles].some((form) =>
    content.includes(form),
  );
}

/** The text of a file; that of a backup's archive, or of a part of one, as it was before it was compressed. */
export function textOf(content: Buffer): string {
  try {
    return content.toString("latin1") + zstdDecompressSync(content).toString("latin1");
  } catch {
    return content.toString("latin1");
  }
}
