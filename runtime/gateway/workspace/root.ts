import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, realpathSync, rmdirSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { StewardError } from "../../contract/errors.ts";
import { pathParts, rootNameProblem } from "../../contract/workspace.ts";
import { ensureDirectory, writeFileAtomic } from "../../process/files.ts";
import type { Author, FileHistory, FileVersion } from "./history.ts";
import type { Quotas } from "./quotas.ts";
import { walk } from "./walk.ts";

/** Maximum size in bytes of a file that is read into memory. */
const LARGEST_READ = 16 * 1024 * 1024;
/** Digest of a missing file. */
const NO_FILE = "none";

export interface WorkspaceEntry {
  name: string;
  kind: "file" | "folder" | "other";
  /** In bytes. */
  size: number;
}

export interface ListedFile {
  /** Relative to the root. */
  name: string;
  /** In bytes. */
  size: number;
  /** ISO 8601 */
  changedAt: string;
}

export interface RootOptions {
  /** `shared` or `chats/<chat>`. */
  id: string;
  directory: string;
  /** Top-level names that files must not use. */
  reserved: ReadonlySet<string>;
  history(): FileHistory;
  quotas: Quotas;
  /** Milliseconds since the epoch. */
  clock(): number;
  /** Called after each change. */
  onChange(change: Change): void;
}

export interface Change {
  root: string;
  name: string;
  by: Author;
  action: "written" | "removed";
}

export interface ChangeOptions {
  by: Author;
  /** Required digest of the current file. With another digest, the change fails. Default: any digest. */
  expected?: string;
}

interface Located {
  path: string;
  /** Path relative to the root, links resolved. */
  name: string;
  /** Number of path parts that do not exist. */
  missing: number;
}

/**
 * Reads and changes files of one directory. Refuses paths that lead out of it, even through links. Checks the quota,
 * stores previous versions and reports every change.
 */
export class Root {
  readonly #options: RootOptions;

  constructor(options: RootOptions) {
    this.#options = options;
  }

  /** `shared` or `chats/<chat>`. */
  get id(): string {
    return this.#options.id;
  }

  /** @throws StewardError `workspace_refused` */
  read(name: string): string | undefined {
    return this.bytes(name)?.toString("utf8");
  }

  /** @throws StewardError `workspace_refused` */
  bytes(name: string): Buffer<ArrayBuffer> | undefined {
    return this.#bytes(this.#locate(name));
  }

  /**
   * Writes atomically and creates parent folders.
   *
   * @throws StewardError `workspace_refused` if {@link rootNameProblem} refuses the name or there is no room;
   * `workspace_changed` if the file is not the expected one
   */
  write(name: string, content: string | Uint8Array, { by, expected }: ChangeOptions): void {
    const { id, history, quotas, clock, onChange } = this.#options;
    const refused = rootNameProblem(name);
    if (refused !== undefined) throw workspaceRefusal(refused);
    const written = quotas.change(() => {
      const place = this.#locate(name);
      const before = this.#bytes(place);
      checkDigest(expected, before);
      quotas.grow(id, {
        bytes: Buffer.byteLength(content) - (before?.length ?? 0),
        entries: place.missing,
      });
      if (before !== undefined)
        quotas.keep(id, history(), { name: place.name, content: before, at: clock() });
      ensureDirectory(path.dirname(place.path));
      history().noteAuthor(place.name, content, by);
      writeFileAtomic(place.path, content);
      return place.name;
    });
    onChange({ root: id, name: written, by, action: "written" });
  }

  /**
   * Removes a file, and folders that become empty. Keeps the file's content as a version.
   *
   * @throws StewardError `workspace_file_unknown`, `workspace_changed`, `workspace_refused`
   */
  remove(name: string, { by, expected }: ChangeOptions): void {
    const { id, history, quotas, clock, onChange } = this.#options;
    const removed = quotas.change(() => {
      const place = this.#locate(name);
      const before = this.#bytes(place);
      if (before === undefined) throw new StewardError("workspace_file_unknown");
      checkDigest(expected, before);
      quotas.keep(id, history(), { name: place.name, content: before, at: clock() });
      rmSync(place.path);
      const folders = this.#removeEmptyFolders(path.dirname(place.path));
      quotas.grow(id, { bytes: -before.length, entries: -1 - folders });
      return place.name;
    });
    onChange({ root: id, name: removed, by, action: "removed" });
  }

  /**
   * Returns a folder's entries, sorted by name; `undefined` if the folder does not exist. An empty `folder` is the
   * root.
   *
   * @throws StewardError `workspace_refused`
   */
  list(folder: string): WorkspaceEntry[] | undefined {
    const { path: place } = this.#locate(folder);
    if (!statSync(place, { throwIfNoEntry: false })?.isDirectory()) return undefined;
    return readdirSync(place, { withFileTypes: true })
      .filter(({ name }) => folder !== "" || !this.#options.reserved.has(name))
      .map((entry): WorkspaceEntry => {
        const { name } = entry;
        if (!entry.isFile()) return { name, kind: entry.isDirectory() ? "folder" : "other", size: 0 };
        return {
          name,
          kind: "file",
          size: lstatSync(path.join(place, name), { throwIfNoEntry: false })?.size ?? 0,
        };
      })
      .toSorted(byName);
  }

  /**
   * Returns files of all folders, sorted by name: at most `most`, beginning after the name `after`. `isCut` is true
   * if there are more.
   */
  files({ after = "", most }: { after?: string; most: number }): { files: ListedFile[]; isCut: boolean } {
    const { directory, reserved } = this.#options;
    const names: { name: string }[] = [];
    for (const { name, entry } of walk(directory, reserved)) {
      if (entry.isFile() && name > after) names.push({ name });
    }
    const shown = names.toSorted(byName).slice(0, most);
    const files = shown.flatMap(({ name }) => {
      const stats = lstatSync(path.join(directory, name), { throwIfNoEntry: false });
      if (stats === undefined) return [];
      return [{ name, size: stats.size, changedAt: new Date(stats.mtimeMs).toISOString() }];
    });
    return { files, isCut: names.length > most };
  }

  /** Newest first. */
  versions(name: string): FileVersion[] {
    return this.#options.history().versions(this.#locate(name).name);
  }

  readVersion(name: string, id: string): string | undefined {
    return this.versionBytes(name, id)?.toString("utf8");
  }

  versionBytes(name: string, id: string): Buffer<ArrayBuffer> | undefined {
    return this.#options.history().read(this.#locate(name).name, id);
  }

  #locate(name: string): Located {
    const { id, directory, reserved } = this.#options;
    const parts = pathParts(name);
    if (parts === undefined) throw outsideRootError();
    const top = lstatSync(directory, { throwIfNoEntry: false });
    // The shared root may be a link that an operator made; a chat's root must not be a link.
    if (top?.isSymbolicLink() && id !== "shared") throw outsideRootError();
    const root = top === undefined ? directory : realpathSync(directory);
    const named = (place: string): string => path.relative(root, place).split(path.sep).join("/");
    let place = root;
    for (const [index, part] of parts.entries()) {
      if (index === 0 && reserved.has(part)) throw outsideRootError();
      const next = path.join(place, part);
      const stats = lstatSync(next, { throwIfNoEntry: false });
      if (stats === undefined) {
        const whole = path.join(place, ...parts.slice(index));
        return { path: whole, name: named(whole), missing: parts.length - index };
      }
      // Refuse dangling links, because somebody may later create their targets outside the root.
      if (stats.isSymbolicLink() && !statSync(next, { throwIfNoEntry: false })) throw outsideRootError();
      place = stats.isSymbolicLink() ? realpathSync(next) : next;
      const isWithin = place === root || place.startsWith(root + path.sep);
      if (!isWithin || reserved.has(named(place).split("/")[0] ?? "")) throw outsideRootError();
    }
    return { path: place, name: named(place), missing: 0 };
  }

  #bytes({ path: file, name }: Located): Buffer<ArrayBuffer> | undefined {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    // Reading a pipe or a device may never end.
    if (!stats.isFile()) throw workspaceRefusal(`${name || "The root"} is not a file.`);
    if (stats.size > LARGEST_READ)
      throw workspaceRefusal(`${name} is larger than ${LARGEST_READ / 1024 ** 2} MiB.`);
    return readFileSync(file);
  }

  #removeEmptyFolders(folder: string): number {
    const root = realpathSync(this.#options.directory);
    let removed = 0;
    for (let place = folder; place.startsWith(root + path.sep); place = path.dirname(place)) {
      if (readdirSync(place).length > 0) break;
      rmdirSync(place);
      removed += 1;
    }
    return removed;
  }
}

/** Returns the hexadecimal SHA-256; `none` for a missing file. */
export function digestOf(content: string | Uint8Array | undefined): string {
  return content === undefined ? NO_FILE : createHash("sha256").update(content).digest("hex");
}

export function workspaceRefusal(detail: string): StewardError {
  return new StewardError("workspace_refused", detail);
}

export function outsideRootError(): StewardError {
  return workspaceRefusal("The path must be relative and stay in the workspace.");
}

function checkDigest(expected: string | undefined, before: Buffer | undefined): void {
  if (expected !== undefined && digestOf(before?.toString("utf8")) !== expected)
    throw new StewardError("workspace_changed");
}

/** Compares names by code units, the order on which `files` relies. */
function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : 1;
}
