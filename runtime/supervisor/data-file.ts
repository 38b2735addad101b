import { constants } from "node:fs";
import { lstat, open, realpath, type FileHandle } from "node:fs/promises";
import { isAbsolute, join, relative, resolve } from "node:path";
import { StewardError } from "../contract/errors.ts";

/** Bytes of a file that may be shown. */
const LARGEST_FILE = 1024 * 1024;
/** A link is not followed, and a pipe without a writer does not hold up the opening. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** A file's text, or why it is not shown. */
export type DataFile = { ok: true; text: string } | { ok: false; problem: string };

/**
 * Reads a text file of the data directory, named relative to it or in full. Only regular files below it:
 * no link on the way, and no second name of a file that may lie elsewhere.
 *
 * @throws StewardError `command_not_allowed` for a path that leads out of the directory.
 */
export async function readDataFile(home: string, file: string): Promise<DataFile> {
  const inside = relative(home, resolve(home, file));
  if (inside === "" || inside.startsWith("..") || isAbsolute(inside)) {
    throw new StewardError("command_not_allowed", `The file lies outside the data directory ${home}.`);
  }
  let handle: FileHandle | undefined;
  try {
    const path = join(await realpath(home), inside);
    handle = await open(path, OPEN_FLAGS);
    return await readOpened(handle, path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return { ok: false, problem: PROBLEMS[code] ?? "it cannot be read" };
  } finally {
    await handle?.close();
  }
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  ENOTDIR: "no such file",
  EACCES: "permission denied",
  // What O_NOFOLLOW says of a link.
  ELOOP: "links are not followed",
};

async function readOpened(handle: FileHandle, path: string): Promise<DataFile> {
  const opened = await handle.stat({ bigint: true });
  if (!opened.isFile()) return { ok: false, problem: "not a regular file" };
  // The agent's tools may write below this directory: what was opened has to be what stands there, and no link.
  const named = await lstat(path, { bigint: true });
  const same = named.ino === opened.ino && named.dev === opened.dev && opened.nlink === 1n;
  if (!same || (await realpath(path)) !== path) return { ok: false, problem: "links are not followed" };
  if (opened.size > LARGEST_FILE) return { ok: false, problem: `larger than ${LARGEST_FILE} bytes` };
  const bytes = Buffer.alloc(LARGEST_FILE + 1);
  // A file that grows meanwhile is read up to the limit and no further.
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
  if (bytesRead > LARGEST_FILE) return { ok: false, problem: `larger than ${LARGEST_FILE} bytes` };
  const content = bytes.subarray(0, bytesRead);
  // Secrets are recognised in text alone.
  if (content.includes(0)) return { ok: false, problem: "not a text file" };
  return { ok: true, text: content.toString("utf8") };
}
