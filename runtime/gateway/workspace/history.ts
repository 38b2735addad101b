import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureDirectory, writeFileAtomic } from "../../process/files.ts";

/** Per file and author. */
const VERSIONS = 20;
const VERSION = /^(\d{1,15})\.(operator|agent)$/;
/** Name of the file that stores the original file's name, for people who inspect the folder. */
const NAME = "name";
/** Name of the file that stores the digest of the text that the agent last wrote. */
const BY_AGENT = "by-agent";

/** Author of a text. Edits on disk count as the operator's. */
export type Author = "operator" | "agent";

export interface FileVersion {
  /** Time of the version's replacement or removal: milliseconds since the epoch, in decimal digits. */
  id: string;
  by: Author;
}

export interface Versions {
  versions: number;
  versionBytes: number;
}

export interface Replaced {
  /** Relative to the root. */
  name: string;
  content: Buffer;
  /** Milliseconds since the epoch. */
  at: number;
}

interface Stored {
  path: string;
  at: number;
  by: Author;
}

/**
 * Previous versions of one root's files, stored outside that root. Each file's versions are in a folder named after
 * the SHA-256 of the file's path.
 */
export class FileHistory {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Stores replaced content as a version, unless it equals the newest version. Keeps the last 20 versions per author,
   * so that the agent's writes do not displace an operator's.
   *
   * @returns the increase in versions and bytes
   */
  keep({ name, content, at }: Replaced): Versions {
    const folder = this.#folder(name);
    const stored = storedIn(folder);
    const [newest] = stored;
    // Store nothing if an earlier, interrupted attempt at this change has already stored the content.
    if (newest !== undefined && readFileSync(newest.path).equals(content))
      return { versions: 0, versionBytes: 0 };
    const by = readText(join(folder, BY_AGENT)) === digestOf(content) ? "agent" : "operator";
    const path = join(this.prepare(name), `${Math.max(at, (newest?.at ?? 0) + 1)}.${by}`);
    writeFileAtomic(path, content);
    const old = stored.filter((one) => one.by === by).slice(VERSIONS - 1);
    const removed = removeAll(old);
    return { versions: 1 - removed.versions, versionBytes: content.length - removed.versionBytes };
  }

  /**
   * Records the author of new content. Call this method before writing the content to the file. If the write then
   * fails, the record does not match the old content, so the old content is attributed to the operator.
   */
  noteAuthor(name: string, content: string | Uint8Array, by: Author): void {
    if (by === "operator") rmSync(join(this.#folder(name), BY_AGENT), { force: true });
    else writeFileSync(join(this.prepare(name), BY_AGENT), digestOf(content), { mode: 0o600 });
  }

  /** Newest first. */
  versions(name: string): FileVersion[] {
    return storedIn(this.#folder(name)).map(({ at, by }) => ({ id: String(at), by }));
  }

  read(name: string, id: string): Buffer<ArrayBuffer> | undefined {
    const found = storedIn(this.#folder(name)).find(({ at }) => String(at) === id);
    return found && readFileSync(found.path);
  }

  /** Creates and returns the folder of a file's versions. */
  prepare(name: string): string {
    const folder = this.#folder(name);
    ensureDirectory(folder);
    if (!existsSync(join(folder, NAME))) writeFileSync(join(folder, NAME), name, { mode: 0o600 });
    return folder;
  }

  /**
   * Removes versions until the rest is within `most`: first the agent's versions, then the operator's, each oldest
   * first.
   *
   * @returns the number and total bytes of the remaining versions
   */
  prune(most: Versions): Versions {
    const all = this.#all().toSorted((a, b) => (a.by === b.by ? a.at - b.at : a.by === "agent" ? -1 : 1));
    const left = { versions: all.length, versionBytes: sum(all) };
    for (const one of all) {
      if (left.versions <= most.versions && left.versionBytes <= most.versionBytes) break;
      const removed = removeAll([one]);
      left.versions -= removed.versions;
      left.versionBytes -= removed.versionBytes;
    }
    return left;
  }

  measure(): Versions {
    const all = this.#all();
    return { versions: all.length, versionBytes: sum(all) };
  }

  #all(): Stored[] {
    return namesIn(this.#directory).flatMap((folder) => storedIn(join(this.#directory, folder)));
  }

  #folder(name: string): string {
    return join(this.#directory, digestOf(name));
  }
}

/** Newest first. */
function storedIn(folder: string): Stored[] {
  return namesIn(folder)
    .flatMap((name): Stored[] => {
      const [, at, by] = VERSION.exec(name) ?? [];
      return at === undefined ? [] : [{ path: join(folder, name), at: Number(at), by: by as Author }];
    })
    .toSorted((a, b) => b.at - a.at);
}

function removeAll(stored: readonly Stored[]): Versions {
  const removed = { versions: stored.length, versionBytes: sum(stored) };
  for (const { path } of stored) rmSync(path, { force: true });
  return removed;
}

function sum(stored: readonly Stored[]): number {
  return stored.reduce(
    (total, { path }) => total + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

function digestOf(content: Uint8Array | string): string {
  return createHash("sha256").update(content).digest("hex");
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
