import type { WriteOptions } from "../../backups/store.ts";
import type { DiskStore } from "../../backups/stores/disk.ts";
import { type GenerationManifest, nameGeneration, readGenerationId } from "../../contract/backup.ts";
import type { ChatsReport } from "../../contract/control.ts";
import { StewardError } from "../../contract/errors.ts";
import { VERSION } from "../../contract/names.ts";
import type { TenantId } from "../../contract/tenant.ts";
import type { Environment } from "../../contract/variables.ts";
import type { Clock } from "../../edge/ports.ts";
import type { Log } from "../../shared/log.ts";
import type { ProcessUser } from "../../supervisor/child.ts";
import { receiveFrom, type ChatStateRun, sendTo, startIn } from "../chat-state/run.ts";
import type { ChatBackupDirectory } from "./chat-backup-directory.ts";

/** Interval between backups of a chat while its gateway runs, in milliseconds. */
const EVERY_MS = 3_600_000;
const AGAIN_MS = 60_000;

export interface ChatDataOptions {
  backupDirectory: ChatBackupDirectory;
  users: {
    has(tenant: TenantId): boolean;
    of(tenant: TenantId): { home: string; user: ProcessUser };
  };
  /** Opens the backups in a folder. Default: the deployment's backups. */
  open(folder?: string): Promise<DiskStore>;
  program: readonly [string, ...string[]];
  environment: Environment;
  clock: Clock;
  log: Log;
}

/**
 * Moves chats' data between the deployment's state, the chats' own folders and their backups. Each step can be
 * repeated safely.
 */
export class ChatData {
  readonly #options: ChatDataOptions;
  /** Last operation on each chat. The chat's next operation waits for it. */
  readonly #turns = new Map<TenantId, Promise<unknown>>();
  readonly #ready = new Set<TenantId>();
  /** Chats that may need another backup. */
  readonly #changed: Set<TenantId>;
  /**
   * Earliest times of a chat's next backup, in milliseconds since the epoch: while its gateway runs, and while it
   * is stopped.
   */
  readonly #copyAt = new Map<TenantId, { running: number; stopped: number }>();
  #isCopying = false;
  #runs = 0;

  constructor(options: ChatDataOptions) {
    this.#options = options;
    this.#changed = new Set(options.backupDirectory.changed());
  }

  get changed(): readonly TenantId[] {
    return [...this.#changed];
  }

  async known(): Promise<ChatsReport> {
    return (await this.#options.open()).chats();
  }

  store(tenant: TenantId): Promise<DiskStore> {
    return this.#options.open(this.#options.backupDirectory.of(tenant));
  }

  /** Ensures that a chat's folder contains the chat's current data. Rejects if that fails. */
  async prepare(tenant: TenantId): Promise<void> {
    if (this.#ready.has(tenant)) return;
    await this.#inTurn(tenant, () => this.#ensure(tenant));
  }

  async #ensure(tenant: TenantId): Promise<void> {
    if (this.#ready.has(tenant)) return;
    await this.#prepare(tenant);
    this.#ready.add(tenant);
  }

  /**
   * Records that a chat's gateway is about to start.
   *
   * @returns false if the chat's folder is not prepared; the gateway must not start then
   */
  begin(tenant: TenantId): boolean {
    const { backupDirectory, clock } = this.#options;
    if (!this.#ready.has(tenant)) return false;
    this.#runs += 1;
    this.#copyAt.set(tenant, { running: clock() + EVERY_MS, stopped: 0 });
    backupDirectory.note(tenant, "changed", `${clock()} ${this.#runs}`);
    this.#changed.add(tenant);
    return true;
  }

  /** Copies a chat's folder into its next backup. `isRunning` returns true while the chat's gateway may still write. */
  copy(tenant: TenantId, isRunning: () => boolean, options: WriteOptions = {}): Promise<GenerationManifest> {
    return this.#inTurn(tenant, async () => {
      await this.#ensure(tenant);
      return this.#copy(tenant, isRunning, options);
    });
  }

  /**
   * Backs up the changed chats that are due: a stopped gateway's chat immediately, others every hour. Never rejects.
   *
   * @param all True to back up every changed chat now.
   */
  async copyChanged(isRunning: (tenant: TenantId) => boolean, { all = false } = {}): Promise<void> {
    if (!all && this.#isCopying) return;
    this.#isCopying = true;
    const { clock, log } = this.#options;
    for (const tenant of this.#changed) {
      const at = this.#copyAt.get(tenant);
      if (!all && clock() < (isRunning(tenant) ? (at?.running ?? 0) : (at?.stopped ?? 0))) continue;
      const next = { running: clock() + EVERY_MS, stopped: 0 };
      await this.copy(tenant, () => isRunning(tenant)).catch((error: unknown) => {
        next.stopped = clock() + AGAIN_MS;
        log.error("a chat's data could not be copied", { tenant, error: String(error) });
      });
      this.#copyAt.set(tenant, next);
    }
    this.#isCopying = false;
  }

  /**
   * Replaces a chat's state with one of the chat's backups. First backs up the current state.
   *
   * @param stop Ends the chat's gateway, which must not start again before the restore has ended.
   */
  restore(tenant: TenantId, id: string, stop: () => Promise<void>): Promise<void> {
    return this.#inTurn(tenant, async () => {
      const { backupDirectory } = this.#options;
      this.#ready.delete(tenant);
      await stop();
      await this.#prepare(tenant);
      if (this.#options.users.has(tenant)) await this.#copy(tenant, () => false, { cause: "restore" });
      // Schedule a backup, because the newest backup may not contain the restored data.
      this.#changed.add(tenant);
      backupDirectory.note(tenant, "changed", `restored ${id}`);
      await this.#place(tenant, id);
      this.#ready.add(tenant);
    });
  }

  /**
   * Backs up the current data and restores the newest backup that this version can read. Needed after a downgrade.
   *
   * @returns the restored backup's id; `undefined`, without any change, if no backup is readable
   */
  async restoreReadable(tenant: TenantId, stop: () => Promise<void>): Promise<string | undefined> {
    const store = await this.store(tenant);
    const found = (await store.list()).find(
      // Skip backups made before a restore: a version newer than their `agentVersion` may have written their data.
      ({ agentVersion, cause }) => cause !== "restore" && !isLater(agentVersion, VERSION),
    );
    if (found === undefined) return undefined;
    await this.restore(tenant, found.id, stop);
    this.#options.log.warn("a chat's data was rolled back to before a later version", {
      tenant,
      id: found.id,
    });
    return found.id;
  }

  async #prepare(tenant: TenantId): Promise<void> {
    const { backupDirectory, users } = this.#options;
    const store = await this.store(tenant);
    const isNew = !users.has(tenant);
    if (backupDirectory.read(tenant, "changed") === undefined) {
      // A folder without backups comes from a version that did not back up chats. Back up the folder before its
      // content is replaced.
      if (!isNew && (await store.list()).length === 0) await this.#copy(tenant, () => false);
      await this.#export(tenant, store);
    }
    const [newest] = await store.list();
    const placing = backupDirectory.read(tenant, "placing");
    if (placing !== undefined) return this.#place(tenant, placing);
    if (newest === undefined) return;
    const isUnplaced = isExport(newest.id) && backupDirectory.read(tenant, "placed") !== newest.id;
    if (isNew || isUnplaced) await this.#place(tenant, newest.id);
  }

  /**
   * Backs up a chat's part of the deployment's state, unless the chat's newest backup is not yet merged into that
   * state.
   */
  async #export(tenant: TenantId, store: DiskStore): Promise<void> {
    const { tenants, broughtBack } = await this.known();
    if (!tenants.includes(tenant)) return;
    const [newest] = await store.list();
    // Keep a backup that is newer than the one last merged into the deployment's state.
    if (newest !== undefined && newest.id > (broughtBack[tenant] ?? "")) return;
    const { epoch } = await store.newestNumber();
    const id = nameGeneration({ epoch: epoch + 1, sequence: 0 });
    try {
      const { counts } = await store.writeChat(tenant, id);
      this.#options.log.info("a chat's data was moved", { tenant, id, ...counts });
    } catch (error) {
      await store.remove(id).catch(() => undefined);
      throw error;
    }
  }

  /** Replaces the content of a chat's folder with a backup. The next `prepare` repeats an interrupted replacement. */
  async #place(tenant: TenantId, id: string): Promise<void> {
    const { backupDirectory } = this.#options;
    const store = await this.store(tenant);
    const archive = await store.read({ id });
    backupDirectory.note(tenant, "placing", id);
    await sendTo(this.#inFolder(tenant, "receive"), archive);
    backupDirectory.note(tenant, "placed", id);
    backupDirectory.note(tenant, "placing", undefined);
  }

  async #copy(
    tenant: TenantId,
    isRunning: () => boolean,
    options: WriteOptions = {},
  ): Promise<GenerationManifest> {
    const { backupDirectory, users } = this.#options;
    // Only admitted chats have a folder and a user.
    if (!users.has(tenant)) throw new StewardError("tenant_unknown");
    const store = await this.store(tenant);
    const [before, couldChange] = [backupDirectory.read(tenant, "changed"), isRunning()];
    const manifest = await store.take((id) => receiveFrom(this.#inFolder(tenant, "send", id)), options);
    if (!couldChange && backupDirectory.read(tenant, "changed") === before) {
      backupDirectory.note(tenant, "changed", undefined);
      this.#changed.delete(tenant);
    }
    await store.prune();
    return manifest;
  }

  #inFolder(tenant: TenantId, ...task: string[]): ChatStateRun {
    const { users, program, environment } = this.#options;
    const { home, user } = users.of(tenant);
    return startIn({ home, user, command: [...program, ...task], environment });
  }

  #inTurn<T>(tenant: TenantId, work: () => Promise<T>): Promise<T> {
    const done = (this.#turns.get(tenant) ?? Promise.resolve()).then(work);
    const turn = done
      .catch(() => undefined)
      .finally(() => {
        if (this.#turns.get(tenant) === turn) this.#turns.delete(tenant);
      });
    this.#turns.set(tenant, turn);
    return done;
  }
}

/** Returns true if a backup was exported from the deployment's state. Only exports have the sequence number 0. */
function isExport(id: string): boolean {
  return readGenerationId(id).sequence === 0;
}

function isLater(version: string, than: string): boolean {
  const [one, other] = [version, than].map((text) => text.split(".").map(Number));
  const at = [0, 1, 2].find((part) => one?.[part] !== other?.[part]);
  return at !== undefined && (one?.[at] ?? 0) > (other?.[at] ?? 0);
}
