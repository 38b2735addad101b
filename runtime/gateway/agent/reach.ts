import path from "node:path";
import type { Place } from "./question.ts";
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

/**
 * Returns what of the workspace a chat may use. A direct chat has all of it. In a group are people whom nobody has let
 * in one by one: a group reads what is shared and writes in a folder of its own, which no other group sees.
 */
export function reachOf(workspace: Workspace, { platform, target, direct }: Place): Reach {
  if (direct) {
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
    if (isWithin(place, FOLDERS) && !isWithin(place, folder)) {
      throw new ToolError(`Of ${FOLDERS}/ this chat has ${folder}/ alone.`);
    }
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
          `In a group, files are written below ${folder}/ only: what is shared is the operator's.`,
        );
      }
      workspace.write(name, text);
    },
    memory: `${folder}/${MEMORY}`,
    folder,
  };
}
