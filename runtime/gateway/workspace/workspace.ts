import { join } from "node:path";
import { CHATS, type FileName, readFileName, WORKSPACE_FOLDERS } from "../../contract/workspace.ts";
import { FileHistory } from "./history.ts";
import { Quotas, type WorkspaceLimits } from "./quotas.ts";
import { type Change, outsideRootError, workspaceRefusal, Root } from "./root.ts";

/** Names at the top of the shared root: the chats' files are seen there, and its history once was. */
const RESERVED: ReadonlySet<string> = new Set([CHATS, ".history"]);

/** Dependencies of a workspace. */
export interface WorkspaceOptions {
  /** The data directory. */
  home: string;
  limits: WorkspaceLimits;
  /** Milliseconds since the epoch. */
  clock(): number;
  /** Called after each change of a file. Default: nothing. */
  onChange?(change: Change): void;
}

/** A chat's root, with its size. */
export interface ChatRoot {
  /** Name of the root, such as `chats/slack-C1`. */
  root: string;
  /** Files and folders. */
  entries: number;
  bytes: number;
}

/**
 * The assistant's files: one root that all chats share, and one for each chat whose people may not write the shared one.
 * The roots and their history are separate folders of the data directory; none is reachable through another.
 */
export class Workspace {
  readonly #options: WorkspaceOptions;
  readonly #quotas: Quotas;

  constructor(options: WorkspaceOptions) {
    const { home, limits } = options;
    this.#options = options;
    this.#quotas = new Quotas({ home, limits });
  }

  /** Counts all files. The gateway's start calls it. */
  open(): void {
    this.#quotas.count();
  }

  /** The root that all chats share. */
  get shared(): Root {
    return this.#root("shared", WORKSPACE_FOLDERS.shared, RESERVED);
  }

  /** Returns the root of a chat, by the name that `chatName` gives. */
  chat(chat: string): Root {
    return this.#root(`${CHATS}/${chat}`, `${WORKSPACE_FOLDERS.chats}/${chat}`, new Set());
  }

  /** Returns the roots of chats that hold files, by name. */
  chats(): ChatRoot[] {
    return this.#quotas
      .chats()
      .map(({ chat, entries, bytes }) => ({ root: `${CHATS}/${chat}`, entries, bytes }));
  }

  /**
   * Returns the root that a name is in, and the name there.
   *
   * @throws StewardError `workspace_refused` for a name that leads out, or of the folder of all chats.
   */
  find(text: string): { root: Root; name: string } {
    const read = readName(text);
    if (read.root === "chats") throw workspaceRefusal("The path must name a file of the workspace.");
    return { root: read.root === "shared" ? this.shared : this.chat(read.chat), name: read.name };
  }

  #root(id: string, folder: string, reserved: ReadonlySet<string>): Root {
    const { home, clock, onChange = () => {} } = this.#options;
    return new Root({
      id,
      directory: join(home, folder),
      reserved,
      history: () => new FileHistory(join(home, WORKSPACE_FOLDERS.history, id)),
      quotas: this.#quotas,
      clock,
      onChange,
    });
  }
}

/**
 * Reads a name.
 *
 * @throws StewardError `workspace_refused` for one that leads out of the workspace.
 */
export function readName(text: string): FileName {
  const read = readFileName(text);
  if (read === undefined) throw outsideRootError();
  return read;
}
