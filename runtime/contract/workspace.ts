/** Folders of the data directory with the assistant's files: what all chats share, one per chat, and former versions. */
export const WORKSPACE_FOLDERS = {
  shared: "workspace",
  chats: "workspace-chats",
  history: "workspace-history",
} as const;

/** Name of the folder in which people and the model see the chats' files, as in `chats/slack-C1/plan.md`. */
export const CHATS = "chats";

/** Bytes of a name within its root, in UTF-8. Every surface can pass one of this length. */
const LONGEST_NAME = 400;
/** Bytes of one part. File systems take 255, and a file is written under a temporary name first, 12 bytes longer. */
const LONGEST_PART = 240;
/** Folders above a file, and the file. */
const MOST_PARTS = 8;
/** Control characters, line separators, and marks that make a name read as another. */
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/u;
/** A file that is being written; no backup holds it. */
const TEMPORARY = /\.\d+\.tmp$/;
const LEADS_OUT = "The path must be relative and stay in the workspace.";
const DASH = "A path does not begin with a dash.";
const CHAT = /^[\w-]{1,120}$/;

/** A name as people and the model write it, such as `skills/mail/SKILL.md` or `chats/slack-C1/plan.md`. */
export type FileName =
  /** `name` is relative to the root, without `.` and empty parts; empty for the root itself. */
  | { root: "shared"; name: string }
  | { root: "chat"; chat: string; name: string }
  /** The folder of all chats. */
  | { root: "chats" };

/**
 * Returns the parts of a path, without `.` and empty ones; `undefined` for one that is absolute or leads upwards, on
 * whatever system.
 */
export function pathParts(text: string): string[] | undefined {
  const isAbsolute = /^(?:[\\/]|[A-Za-z]:[\\/])/.test(text);
  if (isAbsolute || text.includes("\0") || text.split(/[\\/]/).includes("..")) return undefined;
  return text.split("/").filter((part) => part !== "" && part !== ".");
}

/**
 * Reads the name of a file or folder: which root it is in, and its name there. This is the only reader of such names.
 * Returns `undefined` for a name that leads out of the workspace or that no chat can have.
 */
export function readFileName(text: string): FileName | undefined {
  const parts = pathParts(text);
  if (parts === undefined || parts[0] !== CHATS) return parts && { root: "shared", name: parts.join("/") };
  const [, chat, ...rest] = parts;
  if (chat === undefined) return { root: "chats" };
  return CHAT.test(chat) ? { root: "chat", chat, name: rest.join("/") } : undefined;
}

/** Returns why no file may be written under a name, as {@link rootNameProblem} does for the name in its root. */
export function fileNameProblem(text: string): string | undefined {
  const read = readFileName(text);
  if (read === undefined) return LEADS_OUT;
  return text.startsWith("-") ? DASH : rootNameProblem(read.root === "chats" ? "" : read.name);
}

/**
 * Returns why no file of a root may be written under a name relative to it, as a sentence; `undefined` if one may.
 * Whatever has such a name can be listed, read, shown and removed on every surface, and is part of the backups.
 */
export function rootNameProblem(name: string): string | undefined {
  const parts = pathParts(name);
  if (parts === undefined) return LEADS_OUT;
  if (parts.length === 0) return "The path must name a file of the workspace.";
  if (!name.isWellFormed() || HIDDEN.test(name)) return "A path has no control or invisible characters.";
  if (name.includes("\\")) return "A path has no backslash; folders end in a slash.";
  if (parts[0]?.startsWith("-")) return DASH;
  if (parts.length > MOST_PARTS) return `A path has at most ${MOST_PARTS} parts.`;
  if (bytesOf(name) > LONGEST_NAME) return `A path has at most ${LONGEST_NAME} bytes.`;
  if (parts.some((part) => bytesOf(part) > LONGEST_PART))
    return `Each part of a path has at most ${LONGEST_PART} bytes.`;
  if (parts.some((part) => part !== part.trim() || part.endsWith(".")))
    return "No part of a path begins or ends with a blank, or ends with a dot.";
  if (parts.some((part) => TEMPORARY.test(part)))
    return "Names such as a.1.tmp are those of files that are being written.";
  return undefined;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
