import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { zstdDecompressSync } from "node:zlib";

/** Returns each file's full path and content, except installed packages and files that are deleted meanwhile. */
export async function filesBelow(folder: string): Promise<[string, Buffer][]> {
  if (folder.includes("node_modules")) return [];
  const entries = await readdir(folder, { withFileTypes: true });
  const found = entries.map(async (entry): Promise<[string, Buffer][]> => {
    const name = path.join(folder, entry.name);
    try {
      if (entry.isDirectory()) return await filesBelow(name);
      return entry.isFile() ? [[name, await readFile(name)]] : [];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  });
  return (await Promise.all(found)).flat();
}

/** Returns true if a text contains a secret in plain or encoded form. */
export function leaks(content: string, secret: string): boolean {
  // In base64, both ends of the secret depend on the text around it, so only the middle is compared.
  const middles = ["", " ", "  "].map((before) =>
    Buffer.from(`${before}${secret}`).toString("base64").slice(4, -4),
  );
  const hex = Buffer.from(secret).toString("hex");
  return [secret, hex, hex.toUpperCase(), encodeURIComponent(secret), ...middles].some((form) =>
    content.includes(form),
  );
}

/** Returns a file's content as text, with the decompressed content if it is a backup's archive. */
export function textOf(content: Buffer): string {
  try {
    return content.toString("latin1") + zstdDecompressSync(content).toString("latin1");
  } catch {
    return content.toString("latin1");
  }
}
