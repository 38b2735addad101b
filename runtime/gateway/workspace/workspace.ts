import { join } from "node:path";
import { CHATS, type FileName, readFileName, WORKSPACE_FOLDERS } from "../../contract/workspace.ts";
import { FileHistory } from "./history.ts";
import { Quotas, type WorkspaceLimits } from "./quotas.ts";
import { type Change, outsideRootError, workspaceRefusal, Root } from "./root.ts";

/** Top-level names that no file may have: the chats' folder and a former history folder. */
const RESERVED: ReadonlySet<string> = new Set([CHATS, ".history"]);

export interface WorkspaceOptions {
  /** The data directory. */
  home: string;
  limits: WorkspaceLimits;
  /** Milliseconds since the epoch. */
  clock(): number;
  onChange?(change: Change): void;
}

export interface ChatRoot {
  /** Such as `chats/slack-C1`. */
  root: string;
  /** Files and folders. */
  entries: number;
  bytes: number;
}

/** The assistant's files: one root for all chats, and one for each chat that may not write to the shared root. */
export class Workspace {
  readonly #options: WorkspaceOptions;
  readonly #quotas: Quotas;

  constructor(options: WorkspaceOptions) {
    const { home, limits } = options;
    this.#options = options;
    this.#quotas = new Quotas({ home, limits });
  }

  /** Recounts all files. Called when the gateway starts. */
  open(): void {
    this.#quotas.count();
  }

  get shared(): Root {
    return this.#root("shared", WORKSPACE_FOLDERS.shared, RESERVED);
  }

  /** Takes a name from `chatName`. */
  chat(chat: string): Root {
    return this.#root(`${CHATS}/${chat}`, `${WORKSPACE_FOLDERS.chats}/${chat}`, new Set());
  }

  chats(): ChatRoot[] {
    return this.#quotas
      .chats()
      .map(({ chat, entries, bytes }) => ({ root: `${CHATS}/${chat}`, entries, bytes }));
  }

  /**
   * Resolves a path to a root and a name relative to it.
   *
   * @throws StewardError `workspace_refused` for a path outside the workspace, or for the folder that contains all
   * chats.
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
 * Parses a path into its root and name.
 *
 * @throws StewardError `workspace_refused` for a path outside the workspace.
 */
export function readName(text: string): FileName {
  const read = readFileName(text);
  if (read === undefined) throw outsideRootError();
  return read;
}
