import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { ensureDirectory, writeFileAtomic } from "../../process/files.ts";
import { ToolError } from "./tools/tool.ts";

/**
 * The folder whose files the agent may read and write. No path leaves it: not by `..`, not from the
 * root, not by a link that leads out, also for a file that is still to be made.
 */
export class Workspace {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
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

  /** Writes a file, whole or not at all, and the folders above it. */
  write(name: string, text: string): void {
    const file = this.locate(name);
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats !== undefined && !stats.isFile()) throw new ToolError(`${name} is not a file.`);
    ensureDirectory(path.dirname(file));
    writeFileAtomic(file, text);
  }
}

function isThere(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

function leadsOut(): ToolError {
  return new ToolError("The path must be relative and stay in the workspace.");
}
