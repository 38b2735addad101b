import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { ensureDirectory, writeFileAtomic } from "../../process/files.ts";
import { ToolError } from "./tools/tool.ts";

const MIB = 1024 * 1024;
/** Files and folders, in the workspace or a group's folder: each costs a block, however short it is. */
const MOST_ENTRIES = 10_000;

/** Limits of what the agent may write. */
export interface Quota {
  workspaceMiB: number;
  /** Of the folder of one group. */
  groupMiB: number;
}

/**
 * The folder whose files the agent may read and write. No path leaves it: not by `..`, not from the
 * root, not by a link that leads out, also for a file that is still to be made.
 */
export class Workspace {
  readonly #root: string;
  readonly #quota: Quota;

  constructor(root: string, quota: Quota) {
    this.#root = root;
    this.#quota = quota;
  }

  /** The real place of a path in the workspace. Throws a ToolError where it leads out. */
  locate(name: string): string {
    const segments = name.split(/[\\/]+/).filter((segment) => segment !== "" && segment !== ".");
    const absolute = path.isAbsolute(name) || path.win32.isAbsolute(name);
    if (absolute || name.includes("\0") || segments.includes("..")) throw leadsOut();
    mkdirSync(this.#root, { recursive: true, mode: 0o700 });
    const root = realpathSync(this.#root);
    let place = root;
    for (const [index, segment] of segments.entries()) {
      const next = path.join(place, segment);
      if (!isThere(next)) return path.join(place, ...segments.slice(index));
      // A link that leads nowhere is refused as well: what it names may come to be outside.
      if (!existsSync(next)) throw leadsOut();
      place = realpathSync(next);
      if (place !== root && !place.startsWith(root + path.sep)) throw leadsOut();
    }
    return place;
  }

  /** A file's text; `undefined` where there is none. */
  read(name: string): string | undefined {
    const file = this.locate(name);
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    // Anything else may never end: a pipe, a device.
    if (!stats.isFile()) throw new ToolError(`${name} is not a file.`);
    return readFileSync(file, "utf8");
  }

  /**
   * Writes a file, whole or not at all, and the folders above it. Throws a ToolError where it would exceed the quota of
   * the workspace, or that of a group's folder, if it is one's.
   */
  write(name: string, text: string, group?: string): void {
    const file = this.locate(name);
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats !== undefined && !stats.isFile()) throw new ToolError(`${name} is not a file.`);
    const growth = {
      bytes: Buffer.byteLength(text) - (stats?.size ?? 0),
      entries: stats === undefined ? 1 : 0,
    };
    const { workspaceMiB, groupMiB } = this.#quota;
    if (group !== undefined) this.#checkRoom(`${group}/`, growth, groupMiB, "groupMiB");
    this.#checkRoom("", growth, workspaceMiB, "workspaceMiB");
    ensureDirectory(path.dirname(file));
    writeFileAtomic(file, text);
  }

  #checkRoom(folder: string, growth: Room, mostMiB: number, setting: keyof Quota): void {
    // Writes that make nothing larger are the way to shorten what a full folder holds.
    if (growth.bytes <= 0 && growth.entries === 0) return;
    const used = roomOf(this.locate(folder));
    const whose = folder === "" ? "The workspace" : folder;
    if (used.bytes + growth.bytes > mostMiB * MIB) {
      throw new ToolError(
        `${whose} is full: it may hold ${mostMiB} MiB (agent.limits.${setting}). Shorten a file first.`,
      );
    }
    if (used.entries + growth.entries > MOST_ENTRIES) {
      throw new ToolError(
        `${whose} is full: it may hold ${MOST_ENTRIES} files. Write into one that is there.`,
      );
    }
  }
}

interface Room {
  bytes: number;
  entries: number;
}

/** Returns the size of everything below a folder. Links are not followed. */
function roomOf(folder: string): Room {
  const total = { bytes: 0, entries: 0 };
  if (!existsSync(folder)) return total;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    total.entries += 1;
    if (!entry.isFile()) continue;
    total.bytes += statSync(path.join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return total;
}

function isThere(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

function leadsOut(): ToolError {
  return new ToolError("The path must be relative and stay in the workspace.");
}
