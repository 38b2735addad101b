import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { extract as newExtract, type Extract, type Header } from "tar-stream";
import { GENERATION_CONTENT } from "../../contract/backup.ts";
import { StewardError } from "../../contract/errors.ts";
import { CONFIG_FILE, STATE_FILE } from "../../contract/names.ts";
import { writeFailure } from "../../process/files.ts";
import type { Archive } from "../store.ts";
import { MAX_BYTES, MAX_ENTRIES } from "./archive.ts";

const ROOTS: ReadonlySet<string> = new Set(GENERATION_CONTENT);
const FILES: ReadonlySet<string> = new Set([CONFIG_FILE, STATE_FILE]);

/**
 * Unpacks an archive into a new directory, and resolves when the files are on disk.
 *
 * @returns the number of files
 * @throws StewardError `backup_corrupt` if the archive does not match its manifest or has an unexpected entry;
 * `disk_full`, `data_directory_unwritable`
 */
export async function unpackArchive({ content, manifest }: Archive, target: string): Promise<number> {
  const hash = createHash("sha256");
  let size = 0;
  const measure = async function* (pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      size += piece.length;
      if (size > manifest.size) throw corrupt("is longer than its manifest says");
      hash.update(piece);
      yield piece;
    }
  };
  await mkdir(target, { mode: 0o700 });
  const extract = newExtract();
  const [fed, written] = await Promise.allSettled([
    pipeline(content, measure, createZstdDecompress(), extract),
    writeEntries(extract, target),
  ]);
  // A failed write also aborts the reading. Put the write's error first, because it is more specific.
  const failure = [written, fed].flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
  const told = failure.find((error) => error instanceof StewardError);
  if (told !== undefined) throw told;
  if (fed.status === "rejected" || written.status === "rejected") {
    throw corrupt("cannot be unpacked", { cause: failure[0] });
  }
  if (size !== manifest.size || hash.digest("hex") !== manifest.sha256) {
    throw corrupt("does not match its manifest");
  }
  return written.value;
}

async function writeEntries(entries: Extract, target: string): Promise<number> {
  let [files, count, bytes] = [0, 0, 0];
  for await (const entry of entries) {
    const { name, type, size, mtime } = entry.header;
    count += 1;
    bytes += size;
    if (count > MAX_ENTRIES || bytes > MAX_BYTES) throw corrupt("is too large when unpacked");
    const path = join(target, checkedName(name, type));
    try {
      if (type === "directory") {
        await mkdir(path, { recursive: true, mode: 0o700 });
        entry.resume();
        continue;
      }
      files += 1;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await pipeline(entry, createWriteStream(path, { flags: "wx", mode: 0o600, flush: true }));
      await utimes(path, mtime, mtime);
    } catch (error) {
      throw writeFailure(error, path) ?? error;
    }
  }
  return files;
}

/** Returns an entry's name. Throws if the entry is unexpected or its path would leave the directory. */
function checkedName(name: string, type: Header["type"]): string {
  const parts = name.replace(/\/$/, "").split("/");
  const [root = ""] = parts;
  const plain = parts.every((part) => part !== "" && part !== "." && part !== ".." && !part.includes("\0"));
  if (type !== "file" && type !== "directory")
    throw corrupt("contains an entry that is neither a file nor a directory");
  if (!plain || !ROOTS.has(root)) throw corrupt("contains a file that does not belong there");
  const isFile = parts.length === 1 && type === "file";
  if (FILES.has(root) ? !isFile : isFile)
    throw corrupt("contains a file in place of a directory, or the reverse");
  return parts.join("/");
}

function corrupt(what: string, options?: ErrorOptions): StewardError {
  return new StewardError("backup_corrupt", `The archive ${what}.`, options);
}
