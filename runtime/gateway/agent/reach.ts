import path from "node:path";
import type { Place } from "./question.ts";
import type { Rights } from "../admission.ts";
import { ToolError } from "./tools/tool.ts";
import type { Workspace } from "./workspace.ts";

/** The folder of the workspace in which each group has one of its own. */
const FOLDERS = "chats";
/** The file whose end stands before every conversation. */
const MEMORY = "MEMORY.md";

/** The part of the workspace that a chat may use. Paths are the workspace's; each method throws a ToolError beyond it. */
export interface Reach extends Pick<Workspace, "locate" | "read" | "write"> {
  /** The file that the chat's memory is in. */
  memory: string;
  /** The folder below which alone it writes; absent where it writes anywhere. */
  folder?: string;
}

/** A chat, and what may be done there. */
export type Asker = Pick<Place, "platform" | "target"> & Pick<Rights, "may">;

/**
 * Returns what of the workspace a chat may use: all of it, or what is shared to read, or neither; then it writes in a
 * folder of its own, which no other chat of that kind sees.
 */
export function reachOf(workspace: Workspace, { platform, target, may }: Asker): Reach {
  if (may("writeWorkspace") && may("readWorkspace")) {
    return {
      locate: (name) => workspace.locate(name),
      read: (name) => workspace.read(name),
      write: (name, text) => workspace.write(name, text),
      memory: MEMORY,
    };
  }
  const folder = `${FOLDERS}/${platform}-${target.chat.replaceAll(/[^\w-]/g, "_")}`;
  const isWithin = (place: string, parent: string): boolean => {
    const root = workspace.locate(parent);
    return place === root || place.startsWith(root + path.sep);
  };
  // By the real place: a link may lead from one folder into another.
  const locate = (name: string): string => {
    const place = workspace.locate(name);
    if (isWithin(place, folder)) return place;
    if (isWithin(place, FOLDERS)) throw new ToolError(`Of ${FOLDERS}/ this chat has ${folder}/ alone.`);
    if (!may("readWorkspace")) throw new ToolError(`Of the workspace this chat has ${folder}/ alone.`);
    return place;
  };
  return {
    locate,
    read: (name) => {
      locate(name);
      return workspace.read(name);
    },
    write: (name, text) => {
      if (!isWithin(workspace.locate(name), folder)) {
        throw new ToolError(
          `Here files are written below ${folder}/ only: what is shared is not this chat's to change.`,
        );
      }
      workspace.write(name, text, folder);
    },
    memory: `${folder}/${MEMORY}`,
    folder,
  };
}
