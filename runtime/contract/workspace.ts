/**
 * Subfolders of the data directory: files shared by all chats, files of single chats, and previous versions of files.
 */
export const WORKSPACE_FOLDERS = {
  shared: "workspace",
  chats: "workspace-chats",
  history: "workspace-history",
} as const;

/** Folder name under which people and the model see the chats' files, as in `chats/slack-C1/plan.md`. */
export const CHATS = "chats";

/** Maximum length of a path within its root folder, in UTF-8 bytes. */
const LONGEST_NAME = 400;
/** Maximum length of a path segment, in bytes. File systems allow 255, and a temporary suffix takes 12. */
const LONGEST_PART = 240;
/** Maximum number of path segments, including the file's name. */
const MAX_PARTS = 8;
/** Control characters, line separators, and invisible or direction marks that could disguise a name. */
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/u;
/** Pattern for the temporary name of a file during a write. Backups skip such files. */
const TEMPORARY = /\.\d+\.tmp$/;
const LEADS_OUT = "The path must be relative and stay in the workspace.";
const DASH = "A path must not begin with a dash.";
const CHAT = /^[\w-]{1,120}$/;

/** A name as people and the model write it, such as `skills/mail/SKILL.md` or `chats/slack-C1/plan.md`. */
export type FileName =
  /** `name` is a normalised path within the root; empty for the root itself. */
  { root: "shared"; name: string } | { root: "chat"; chat: string; name: string } | { root: "chats" };

/**
 * Splits a path into segments and drops empty ones and `.`. Returns `undefined` if the path is absolute or contains
 * `..`, in POSIX or Windows notation.
 */
export function pathParts(text: string): string[] | undefined {
  const isAbsolute = /^(?:[\\/]|[A-Za-z]:[\\/])/.test(text);
  if (isAbsolute || text.includes("\0") || text.split(/[\\/]/).includes("..")) return undefined;
  return text.split("/").filter((part) => part !== "" && part !== ".");
}

/**
 * Splits a file or folder name into its root and the path within that root. Returns `undefined` if the name leads out
 * of the workspace or its chat id is malformed.
 */
export function readFileName(text: string): FileName | undefined {
  const parts = pathParts(text);
  if (parts === undefined || parts[0] !== CHATS) return parts && { root: "shared", name: parts.join("/") };
  const [, chat, ...rest] = parts;
  if (chat === undefined) return { root: "chats" };
  return CHAT.test(chat) ? { root: "chat", chat, name: rest.join("/") } : undefined;
}

/** Returns a sentence that explains why a file must not have this name, or `undefined` if it may. */
export function fileNameProblem(text: string): string | undefined {
  const read = readFileName(text);
  if (read === undefined) return LEADS_OUT;
  return text.startsWith("-") ? DASH : rootNameProblem(read.root === "chats" ? "" : read.name);
}

/** Returns a sentence that explains why a file must not have this path within its root, or `undefined` if it may. */
export function rootNameProblem(name: string): string | undefined {
  const parts = pathParts(name);
  if (parts === undefined) return LEADS_OUT;
  if (parts.length === 0) return "The path must name a file of the workspace.";
  if (!name.isWellFormed() || HIDDEN.test(name))
    return "A path must not have control or invisible characters.";
  if (name.includes("\\")) return "A path must not have a backslash; separate folders with a slash.";
  if (parts[0]?.startsWith("-")) return DASH;
  if (parts.length > MAX_PARTS) return `A path has at most ${MAX_PARTS} parts.`;
  if (bytesOf(name) > LONGEST_NAME) return `A path has at most ${LONGEST_NAME} bytes.`;
  if (parts.some((part) => bytesOf(part) > LONGEST_PART))
    return `Each part of a path has at most ${LONGEST_PART} bytes.`;
  if (parts.some((part) => part !== part.trim() || part.endsWith(".")))
    return "No part of a path may begin or end with a blank, or end with a dot.";
  if (parts.some((part) => TEMPORARY.test(part)))
    return "Names such as a.1.tmp are reserved for files that are being written.";
  return undefined;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
