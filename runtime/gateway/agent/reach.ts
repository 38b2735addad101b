import { CHATS } from "../../contract/workspace.ts";
import { chatName } from "../../process/chat-name.ts";
import type { WorkspaceEntry, Root } from "../workspace/root.ts";
import { readName, type Workspace } from "../workspace/workspace.ts";
import type { Place } from "./question.ts";
import type { Rights } from "../admission.ts";
import { ToolError } from "./tools/tool.ts";

/** Name of a memory file. Every prompt includes the end of the file. */
const MEMORY = "MEMORY.md";
const BY = { by: "agent" } as const;

/**
 * Files that a chat may use, by their paths in the workspace. Methods throw a ToolError or StewardError for other
 * paths.
 */
export interface Reach {
  read(name: string): string | undefined;
  bytes(name: string): Uint8Array<ArrayBuffer> | undefined;
  /**
   * Writes a text file.
   *
   * @throws for an invalid name, or if there is no room.
   */
  write(name: string, text: string): void;
  list(folder: string): WorkspaceEntry[] | undefined;
  /**
   * Stores a tool's output file in the chat's folder, unless the file already exists, and returns its workspace path.
   * Removes the oldest output files to make room.
   *
   * @throws StewardError if there is no room.
   */
  keep(name: string, data: Uint8Array): string;
  /** Name of the chat's memory file. */
  memory: string;
  /** Only folder that the chat may write to; absent if it may write anywhere. */
  folder?: string;
}

/** Folder for tools' output files, inside the chat's root. */
const FROM_TOOLS = "from-tools";
const MAX_KEPT_FILES = 50;
const MAX_KEPT_BYTES = 4 * 1024 * 1024;

/** A chat and its permissions. */
export type Asker = Pick<Place, "platform" | "target"> & Pick<Rights, "may">;

/**
 * Returns the files that a chat may use. A chat that may read and write the workspace can use all roots. Any other
 * chat can use its own root, and also read the shared root if it may read the workspace.
 */
export function reachOf(workspace: Workspace, { platform, target, may }: Asker): Reach {
  const chat = chatName(platform, target.chat);
  const keep = (name: string, data: Uint8Array): string =>
    `${CHATS}/${chat}/${storeToolFile(workspace.chat(chat), name, data)}`;
  if (may("writeWorkspace") && may("readWorkspace")) return { ...fullReach(workspace), keep };
  return {
    ...chatReach(workspace.chat(chat), chat, may("readWorkspace") ? workspace.shared : undefined),
    keep,
  };
}

function storeToolFile(root: Root, file: string, data: Uint8Array): string {
  const name = `${FROM_TOOLS}/${file}`;
  if (root.bytes(name) !== undefined) return name;
  const kept = root
    .files({ most: Number.POSITIVE_INFINITY })
    .files.filter((one) => one.name.startsWith(`${FROM_TOOLS}/`));
  const newestFirst = kept.toSorted((a, b) => (a.changedAt < b.changedAt ? 1 : -1));
  let bytes = data.byteLength;
  for (const [index, one] of newestFirst.entries()) {
    bytes += one.size;
    if (index + 1 >= MAX_KEPT_FILES || bytes > MAX_KEPT_BYTES) root.remove(one.name, BY);
  }
  root.write(name, data, BY);
  return name;
}

function fullReach(workspace: Workspace): Omit<Reach, "keep"> {
  return {
    read: (text) => {
      const { root, name } = workspace.find(text);
      return root.read(name);
    },
    bytes: (text) => {
      const { root, name } = workspace.find(text);
      return root.bytes(name);
    },
    write: (text, content) => {
      const { root, name } = workspace.find(text);
      root.write(name, content, BY);
    },
    list: (folder) => {
      const chats = (): WorkspaceEntry[] =>
        workspace.chats().map(({ root }) => entry(root.slice(CHATS.length + 1)));
      if (readName(folder).root === "chats") return chats();
      const { root, name } = workspace.find(folder);
      const entries = root.list(name);
      const isTop = root.id === "shared" && name === "";
      return isTop && chats().length > 0 ? [...(entries ?? []), entry(CHATS)] : entries;
    },
    memory: MEMORY,
  };
}

type ReadableRoot = Pick<Root, "read" | "bytes" | "list">;

function chatReach(own: Root, chat: string, shared: ReadableRoot | undefined): Omit<Reach, "keep"> {
  const folder = `${CHATS}/${chat}`;
  const readable = (text: string): { root: ReadableRoot; name: string; isTop: boolean } => {
    const read = readName(text);
    if (read.root === "chat" && read.chat === chat) return { root: own, name: read.name, isTop: false };
    if (read.root !== "shared") throw new ToolError(`Below ${CHATS}/, this chat can use only ${folder}/.`);
    if (shared === undefined) throw new ToolError(`In the workspace, this chat can use only ${folder}/.`);
    return { root: shared, name: read.name, isTop: read.name === "" };
  };
  return {
    read: (text) => {
      const { root, name } = readable(text);
      return root.read(name);
    },
    bytes: (text) => {
      const { root, name } = readable(text);
      return root.bytes(name);
    },
    write: (text, content) => {
      const read = readName(text);
      if (read.root !== "chat" || read.chat !== chat)
        throw new ToolError(`This chat can write only below ${folder}/. It cannot change shared files.`);
      own.write(read.name, content, BY);
    },
    list: (text) => {
      const { root, name, isTop } = readable(text);
      const entries = root.list(name);
      return isTop ? [...(entries ?? []), entry(folder)] : entries;
    },
    memory: `${folder}/${MEMORY}`,
    folder,
  };
}

function entry(name: string): WorkspaceEntry {
  return { name, kind: "folder", size: 0 };
}
