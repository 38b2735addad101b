import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync } from "node:fs";
import path from "node:path";
import { CHATS, readFileName, WORKSPACE_FOLDERS } from "../../contract/workspace.ts";
import { ensureDirectory, writeFileAtomic } from "../../process/files.ts";
import { FileHistory } from "./history.ts";

/** Folders of the old layout, within the shared root. */
const OLD = { chats: CHATS, history: ".history" };
/** Chat's root for what lay in the old folder of the chats and was no chat's: only operators read there. */
const OTHERS = "other";
/** Place in the history for what lay in the old one and was no version: nothing reads it. */
const UNSORTED = "unsorted";
/** In the folder of the history: everything is where this version expects it. */
const MARKER = "layout";
const OLD_VERSION = /^\d{13}$/;

/** Moves a file or a folder, at once or not at all. */
type Move = (from: string, to: string) => void;

/** Returns true if no file of the old layout waits to be imported. */
export function isImported(home: string): boolean {
  const { shared, history } = WORKSPACE_FOLDERS;
  if (existsSync(path.join(home, history, MARKER))) return true;
  return !Object.values(OLD).some((name) => isThere(path.join(home, shared, name)));
}

/**
 * Moves the chats' folders and the former versions out of the shared root, where they lay before the roots were separate
 * folders. Each step moves one file or folder and can be the last: the next call continues, and nothing is read before
 * all is done. A marker ends it, so that a folder with an old name is never taken for the old layout again.
 *
 * @param now Milliseconds since the epoch: no version is from later.
 */
export function importOldLayout(home: string, now: number, move: Move = renameSync): void {
  const { shared, history } = WORKSPACE_FOLDERS;
  const marker = path.join(home, history, MARKER);
  if (existsSync(marker)) return;
  importChats(home, path.join(home, shared, OLD.chats), move);
  importVersions(home, path.join(home, shared, OLD.history), now, move);
  ensureDirectory(path.join(home, history));
  writeFileAtomic(marker, "2\n");
}

function importChats(home: string, old: string, move: Move): void {
  if (!isThere(old)) return;
  const chats = path.join(home, WORKSPACE_FOLDERS.chats);
  ensureDirectory(chats);
  if (!isFolder(old)) return moveTo(free(path.join(chats, OTHERS, OLD.chats)), old, move);
  for (const name of readdirSync(old)) {
    const from = path.join(old, name);
    const isChat = isFolder(from) && readFileName(`${CHATS}/${name}`) !== undefined;
    const to = path.join(chats, name);
    // A folder of this name is there only if somebody made it by hand.
    if (isChat && !isThere(to)) moveTo(to, from, move);
    else moveTo(free(path.join(chats, OTHERS, name)), from, move);
  }
  rmdirSync(old);
}

function importVersions(home: string, old: string, now: number, move: Move): void {
  if (!isThere(old)) return;
  const history = path.join(home, WORKSPACE_FOLDERS.history);
  ensureDirectory(history);
  for (const encoded of isFolder(old) ? readdirSync(old) : []) {
    const place = placeOf(encoded);
    const folder = path.join(old, encoded);
    if (place === undefined || !isFolder(folder)) continue;
    const versions = new FileHistory(path.join(history, place.root));
    const target = versions.prepare(place.name);
    // The newest goes first. The agent could write here: a version from the future takes the next place before it.
    let next = Math.min(now, ...versions.versions(place.name).map(({ id }) => Number(id) - 1));
    for (const id of readdirSync(folder).toSorted().toReversed()) {
      if (!OLD_VERSION.test(id) || !lstatSync(path.join(folder, id)).isFile()) continue;
      const at = Math.min(Number(id), next);
      move(path.join(folder, id), path.join(target, `${at}.operator`));
      next = at - 1;
    }
    removeEmpty(folder);
  }
  if (isFolder(old) && readdirSync(old).length === 0) rmdirSync(old);
  else moveTo(free(path.join(history, UNSORTED)), old, move);
}

function placeOf(encoded: string): { root: string; name: string } | undefined {
  try {
    const read = readFileName(decodeURIComponent(encoded));
    if (read === undefined || read.root === "chats" || read.name === "") return undefined;
    return { root: read.root === "shared" ? "shared" : `${CHATS}/${read.chat}`, name: read.name };
  } catch {
    return undefined;
  }
}

function moveTo(to: string, from: string, move: Move): void {
  mkdirSync(path.dirname(to), { recursive: true, mode: 0o700 });
  move(from, to);
}

/** Returns a path at which nothing is, made from one by a number if need be. */
function free(wanted: string): string {
  for (let count = 1; ; count += 1) {
    const to = count === 1 ? wanted : `${wanted}-${count}`;
    if (!isThere(to)) return to;
  }
}

function removeEmpty(folder: string): void {
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}

function isThere(place: string): boolean {
  return lstatSync(place, { throwIfNoEntry: false }) !== undefined;
}

function isFolder(place: string): boolean {
  return lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
}
