import { createHash } from "node:crypto";
import { constants, createWriteStream } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createZstdCompress } from "node:zlib";
import { pack as newPack, type Pack } from "tar-stream";
import { GENERATION_CONTENT } from "../../contract/backup.ts";
import { StewardError } from "../../contract/errors.ts";
import { CONFIG_FILE, STATE_FILE } from "../../contract/names.ts";
import { contentBelow, type ContentEntry, countApprovals, listsApprovals, unlessGone } from "./content.ts";

/** Limit of an unpacked archive in bytes. */
export const MAX_BYTES = 2 * 1024 ** 3;

export const MAX_ENTRIES = 200_000;

interface WrittenArchive {
  sha256: string;
  size: number;
  files: number;
  approvals: number;
  config: Buffer | undefined;
}

const PIECE = 64 * 1024;
/** Flags for opening a file: fail if a symbolic link has replaced it, and do not block if it is a pipe. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Writes the data directory's content to a new archive and flushes it to disk. `state` is the path of a copy of the
 * database.
 */
export async function writeArchive(
  home: string,
  state: string | undefined,
  to: string,
  roots: readonly string[] = GENERATION_CONTENT,
): Promise<WrittenArchive> {
  const hash = createHash("sha256");
  const written: WrittenArchive = { sha256: "", size: 0, files: 0, approvals: 0, config: undefined };
  const pack = newPack();
  const fill = async (): Promise<void> => {
    try {
      await addAll(pack, allContent(home, state, roots), written);
      pack.finalize();
    } catch (error) {
      pack.destroy(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
  };
  const measure = async function* (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      hash.update(piece);
      written.size += piece.length;
      yield piece;
    }
  };
  const file = createWriteStream(to, { flags: "wx", mode: 0o600, flush: true });
  // If one promise rejects, the other does too. `Promise.all` reports the first error.
  await Promise.all([pipeline(pack, createZstdCompress(), measure, file), fill()]);
  return { ...written, sha256: hash.digest("hex") };
}

async function addAll(
  pack: Pack,
  content: AsyncIterable<ContentEntry>,
  written: WrittenArchive,
): Promise<void> {
  let [entries, bytes] = [0, 0];
  for await (const entry of content) {
    entries += 1;
    bytes += entry.stats.isFile() ? entry.stats.size : 0;
    if (entries > MAX_ENTRIES || bytes > MAX_BYTES) {
      const detail = `The data directory holds more than ${MAX_ENTRIES} files or ${MAX_BYTES} bytes.`;
      throw new StewardError("backup_failed", detail);
    }
    if (entry.stats.isFile()) await addFile(pack, entry, written);
    else await addDirectory(pack, entry);
  }
}

async function* allContent(
  home: string,
  state: string | undefined,
  roots: readonly string[],
): AsyncGenerator<ContentEntry> {
  for (const root of roots) {
    if (root !== STATE_FILE) yield* contentBelow(home, root);
    else if (state !== undefined) yield { name: root, path: state, stats: await lstat(state) };
  }
}

function addDirectory(pack: Pack, { name, stats }: ContentEntry): Promise<void> {
  const entry = { ...head({ name: `${name}/`, stats }), type: "directory" as const, mode: 0o700 };
  return new Promise((resolve, reject) => {
    pack.entry(entry, (error) => (error ? reject(error) : resolve()));
  });
}

async function addFile(pack: Pack, { name, path }: ContentEntry, written: WrittenArchive): Promise<void> {
  const file = await unlessGone(open(path, OPEN_FLAGS));
  if (file === undefined) return;
  try {
    const stats = await file.stat();
    const entry = { ...head({ name, stats }), type: "file" as const, mode: 0o600 };
    if (name === CONFIG_FILE || listsApprovals(name, stats)) {
      const content = await file.readFile();
      if (name === CONFIG_FILE) written.config = content;
      else written.approvals += countApprovals(content.toString("utf8"));
      await pipeline([content], pack.entry({ ...entry, size: content.length }));
    } else {
      await pipeline(piecesOf(file, stats.size), pack.entry({ ...entry, size: stats.size }));
    }
    written.files += 1;
  } finally {
    await file.close();
  }
}

/**
 * Yields the first `size` bytes of a file, which may have grown since its size was read.
 *
 * @throws StewardError `backup_failed` if the file has become shorter
 */
async function* piecesOf(file: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let left = size; left > 0;) {
    const piece = Buffer.allocUnsafe(Math.min(left, PIECE));
    const { bytesRead } = await file.read(piece, 0, piece.length);
    if (bytesRead === 0)
      throw new StewardError("backup_failed", "A file became shorter while it was copied.");
    left -= bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}

function head({ name, stats }: Pick<ContentEntry, "name" | "stats">): { name: string; mtime: Date } {
  return { name, mtime: stats.mtime };
}
