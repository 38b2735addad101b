import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { StewardError } from "../../contract/errors.ts";
import { CHATS, WORKSPACE_FOLDERS } from "../../contract/workspace.ts";
import { parseJson } from "../../shared/json.ts";
import { ensureDirectory, writeFileAtomic } from "../../process/files.ts";
import { withLock } from "../../process/lock.ts";
import { FileHistory, type Replaced, type Versions } from "./history.ts";
import { entriesOf, walk } from "./walk.ts";

const MIB = 1024 * 1024;
/** Maximum number of files and folders in the shared root, in one chat's root, and in all chats' roots together. */
const MAX_ENTRIES = { shared: 10_000, chat: 1_000, chats: 10_000 };
/** Maximum number of stored versions in the shared root, in one chat's root, and in all chats' roots together. */
const MAX_VERSIONS = { shared: 10_000, chat: 1_000, chats: 10_000 };
/** Fraction of the limit to which stored versions are reduced when they exceed the limit. */
const PRUNED_TO = 0.9;
/** File that stores the roots' sizes. Backups omit the file, because it can be recomputed. */
const FIGURES_FILE = "workspace-figures.json";
const LOCK_FILE = "workspace.lock";

const figuresSchema = z.object({
  version: z.literal(1),
  roots: z.record(
    z.string(),
    z.object({
      bytes: z.number(),
      entries: z.number(),
      versions: z.number(),
      versionBytes: z.number(),
    }),
  ),
});

/** Size of a root: bytes of its files, number of files and folders, and stored versions. */
export interface RootFigures extends Versions {
  bytes: number;
  entries: number;
}

/** May be negative. */
export type Growth = Pick<RootFigures, "bytes" | "entries">;

/** See `agent.limits` in the config. */
export interface WorkspaceLimits {
  workspaceMiB: number;
  groupMiB: number;
}

export interface QuotasOptions {
  /** The data directory. */
  home: string;
  limits: WorkspaceLimits;
}

/**
 * Limits the size of the workspace's roots, and lets only one process at a time change files. Keeps running totals of
 * the sizes, so that not all files need to be measured again after a change.
 *
 * All chats together may use at most half of the workspace's bytes; the shared root may use every byte that the chats
 * do not use.
 */
export class Quotas {
  readonly #options: QuotasOptions;
  /** Set only within {@link change}. */
  #figures: Map<string, RootFigures> | undefined;

  constructor(options: QuotasOptions) {
    this.#options = options;
  }

  /** Runs `work` while holding the workspace's lock, and stores the new sizes if `work` succeeds. */
  change<T>(work: () => T): T {
    return this.#alone(() => {
      this.#figures = this.#read() ?? this.#measure();
      try {
        const result = work();
        this.#store(this.#figures);
        return result;
      } finally {
        this.#figures = undefined;
      }
    });
  }

  /** Recounts the files of each root. Files beyond the limit of {@link walk} are not counted. */
  count(): void {
    this.#alone(() => this.#store(this.#measure()));
  }

  chats(): { chat: string; entries: number; bytes: number }[] {
    const figures = this.#read() ?? this.#measure();
    return [...figures]
      .flatMap(([id, { entries, bytes }]) => {
        const chat = chatOf(id);
        return chat === undefined || entries <= 0 ? [] : [{ chat, entries, bytes }];
      })
      .toSorted((a, b) => (a.chat < b.chat ? -1 : 1));
  }

  /**
   * Adds to a root's size. Call it within {@link change}.
   *
   * @throws StewardError `workspace_refused` if there is no room.
   */
  grow(id: string, growth: Growth): void {
    const figures = this.#of(id);
    this.#checkEntries(id, growth.entries);
    this.#checkBytes(id, growth.bytes);
    figures.bytes = Math.max(0, figures.bytes + growth.bytes);
    figures.entries = Math.max(0, figures.entries + growth.entries);
  }

  /**
   * Stores a file's replaced content as a version. Prunes the versions of the file's root folder if they exceed their
   * limit. Call this method within {@link change}.
   */
  keep(id: string, history: FileHistory, replaced: Replaced): void {
    const figures = this.#of(id);
    const grown = history.keep(replaced);
    figures.versions += grown.versions;
    figures.versionBytes += grown.versionBytes;
    const most = this.#mostVersions(id);
    if (figures.versions <= most.versions && figures.versionBytes <= most.versionBytes) return;
    const left = history.prune({
      versions: Math.floor(most.versions * PRUNED_TO),
      versionBytes: Math.floor(most.versionBytes * PRUNED_TO),
    });
    Object.assign(figures, left);
  }

  // Allow writes that add no entry, so that files in a full root can still be changed.
  #checkEntries(id: string, growth: number): void {
    if (growth <= 0) return;
    const isChat = chatOf(id) !== undefined;
    const most = isChat ? MAX_ENTRIES.chat : MAX_ENTRIES.shared;
    const advice = "Write to an existing file instead.";
    if (this.#of(id).entries + growth > most)
      throw full(`${nameOf(id)} is full: it may hold ${most} files and folders. ${advice}`);
    // + 1, because a chat's root folder counts too.
    if (isChat && this.#sum(({ entries }) => entries + 1) + growth > MAX_ENTRIES.chats)
      throw full(
        `The chats' folders are full: they may hold ${MAX_ENTRIES.chats} files and folders. ${advice}`,
      );
  }

  #checkBytes(id: string, growth: number): void {
    if (growth <= 0) return;
    const { workspaceMiB, groupMiB } = this.#options.limits;
    const advice = "Shorten a file first.";
    const chats = this.#sum(({ bytes }) => bytes) + growth;
    if (chatOf(id) !== undefined) {
      if (this.#of(id).bytes + growth > groupMiB * MIB)
        throw full(`${nameOf(id)} is full: it may hold ${groupMiB} MiB (agent.limits.groupMiB). ${advice}`);
      if (chats > (workspaceMiB * MIB) / 2)
        throw full(
          `The chats' folders are full: they may hold half of ${workspaceMiB} MiB (agent.limits.workspaceMiB). ${advice}`,
        );
    }
    if (this.#of("shared").bytes + chats > workspaceMiB * MIB)
      throw full(
        `The workspace is full: it may hold ${workspaceMiB} MiB (agent.limits.workspaceMiB). ${advice}`,
      );
  }

  #mostVersions(id: string): Versions {
    const { workspaceMiB, groupMiB } = this.#options.limits;
    if (chatOf(id) === undefined) return { versions: MAX_VERSIONS.shared, versionBytes: workspaceMiB * MIB };
    const chats = this.#sum(() => 1);
    const share = (whole: number): number => Math.floor(whole / chats);
    return {
      versions: Math.min(MAX_VERSIONS.chat, share(MAX_VERSIONS.chats)),
      versionBytes: Math.min(groupMiB * MIB, share((workspaceMiB * MIB) / 2)),
    };
  }

  #alone<T>(work: () => T): T {
    const { home } = this.#options;
    ensureDirectory(home);
    return withLock(join(home, LOCK_FILE), work);
  }

  #of(id: string): RootFigures {
    if (this.#figures === undefined) throw new Error("The figures change within change() only.");
    const figures = this.#figures.get(id) ?? none();
    this.#figures.set(id, figures);
    return figures;
  }

  #sum(read: (figures: RootFigures) => number): number {
    let sum = 0;
    for (const [id, figures] of this.#figures ?? []) if (chatOf(id) !== undefined) sum += read(figures);
    return sum;
  }

  #read(): Map<string, RootFigures> | undefined {
    try {
      const text = readFileSync(join(this.#options.home, FIGURES_FILE), "utf8");
      const parsed = figuresSchema.safeParse(parseJson(text));
      return parsed.success ? new Map(Object.entries(parsed.data.roots)) : undefined;
    } catch {
      return undefined;
    }
  }

  #store(figures: Map<string, RootFigures>): void {
    const value = { version: 1, roots: Object.fromEntries(figures) };
    writeFileAtomic(join(this.#options.home, FIGURES_FILE), `${JSON.stringify(value)}\n`);
  }

  #measure(): Map<string, RootFigures> {
    const { home } = this.#options;
    const { shared, chats, history } = WORKSPACE_FOLDERS;
    const measured = (folder: string, id: string): [string, RootFigures] => [
      id,
      { ...measure(join(home, folder)), ...new FileHistory(join(home, history, id)).measure() },
    ];
    const known = new Set([...foldersIn(join(home, chats)), ...foldersIn(join(home, history, CHATS))]);
    return new Map([
      measured(shared, "shared"),
      ...[...known].map((chat) => measured(`${chats}/${chat}`, `${CHATS}/${chat}`)),
    ]);
  }
}

/** Counts a directory's bytes and entries without following links. */
function measure(directory: string): Growth {
  const total = { bytes: 0, entries: 0 };
  for (const { name, entry } of walk(directory)) {
    total.entries += 1;
    if (entry.isFile()) total.bytes += statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return total;
}

function foldersIn(directory: string): string[] {
  return entriesOf(directory).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

function none(): RootFigures {
  return { bytes: 0, entries: 0, versions: 0, versionBytes: 0 };
}

function chatOf(id: string): string | undefined {
  return id.startsWith(`${CHATS}/`) ? id.slice(CHATS.length + 1) : undefined;
}

function nameOf(id: string): string {
  return chatOf(id) === undefined ? "The workspace" : `${id}/`;
}

function full(detail: string): StewardError {
  return new StewardError("workspace_refused", detail);
}
