import { createReadStream, createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import {
  type ConfigSource,
  GENERATION_FILES,
  type GenerationManifest,
  type RestoreReport,
} from "../../contract/backup.ts";
import type { ChatsReport, ConfigRefusal, ConfigText } from "../../contract/control.ts";
import type { Environment } from "../../contract/environment.ts";
import { reason, StewardError, type Reason } from "../../contract/errors.ts";
import { RESTORE_MARKER } from "../../contract/names.ts";
import type { Approvals, TenantId } from "../../contract/tenant.ts";
import { exists, writeFailure } from "../../process/files.ts";
import type { Log } from "../../shared/log.ts";
import type { Redactor } from "../../shared/redact.ts";
import { stateRevision } from "../archive/content.ts";
import { mergeTenant, replaceApprovals } from "../archive/merge-tenant.ts";
import { chatPart, chatsIn } from "../archive/chat-part.ts";
import { makeGeneration, type StatePart } from "../archive/generation.ts";
import {
  verifyArchive,
  finishRestore,
  removeScratch,
  stageRestore,
  withUnpackedArchive,
} from "../archive/restore.ts";
import { BackupDirectory } from "../archive/backup-directory.ts";
import { expiredGenerations } from "../retention.ts";
import type { Archive, BackupStore, GatewayState, ReceiveOptions, WriteOptions } from "../store.ts";

interface ConfigFileEditor {
  read(kind: "file"): Promise<ConfigText>;
  show(text: string): ConfigText;
  replace(
    text: string,
    options: { expected: string; unchecked: boolean; write: boolean },
  ): Promise<ConfigText | ConfigRefusal>;
}

export interface DiskStoreOptions {
  home: string;
  /** Default: `backups/` in the data directory. */
  backupDirectory?: string | undefined;
  supervisor: { hold(why: Reason): Promise<void>; release(): void; stop(): Promise<void> };
  editConfig(): Promise<ConfigFileEditor>;
  /** The gateway's environment, used to check a config file. */
  environment: Environment;
  redact: Redactor;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

const RESTORING = reason("gateway_not_ready", "The gateway's state is being restored; it starts afterwards.");

type Content = Archive["content"];

/**
 * Stores a data directory's state and its backups. Refuses concurrent operations, even by other processes, with
 * `commands_busy`.
 */
export class DiskStore extends BackupDirectory implements BackupStore<Content>, GatewayState<Content> {
  readonly #options: DiskStoreOptions;
  /** Epoch of this process's backups; chosen at the first backup. */
  #epoch: number | undefined;

  constructor(options: DiskStoreOptions) {
    super(options.home, options.backupDirectory);
    this.#options = options;
  }

  revision(): Promise<string> {
    return stateRevision(this.#options.home);
  }

  async newest(): Promise<Partial<GenerationManifest>> {
    return (await this.list())[0] ?? {};
  }

  /** Makes a backup. Default for `id`: the next free id. */
  write(options: WriteOptions & { id?: string | undefined } = {}): Promise<GenerationManifest> {
    return this.runExclusively(() => this.#write(options));
  }

  chats(): Promise<ChatsReport> {
    return chatsIn(this.#options.home);
  }

  /** Backs up one chat's part of the state under this id, and verifies the backup. Replaces an earlier attempt. */
  writeChat(tenant: TenantId, id: string): Promise<GenerationManifest> {
    return this.runExclusively(async () => {
      for (const ending of Object.values(GENERATION_FILES).toReversed())
        await rm(this.path(id, ending), { force: true });
      const { home, clock } = this.#options;
      const manifest = await this.#write({ id, part: await chatPart(home, tenant, clock()) });
      await verifyArchive({ ...this.#options, ...(await this.read({ id })) });
      return manifest;
    });
  }

  /**
   * Fetches a backup from another process, verifies it, calls `accept`, and stores the backup. `send` is called with
   * the new backup's id and must return the archive. If an error is thrown, no backup is stored.
   *
   * @throws StewardError `backup_corrupt` if verification fails; `disk_full` or `data_directory_unwritable` if the
   * backup cannot be written. Any error from `send` or `accept` is passed on.
   */
  async take(
    send: (id: string) => Promise<Archive>,
    { cause, accept }: WriteOptions = {},
  ): Promise<GenerationManifest> {
    return this.runExclusively(async () => {
      await this.removeUnfinished();
      const id = await this.nextId(1);
      const unfinished = this.path(id, `${GENERATION_FILES.archive}.tmp`);
      try {
        const { manifest, content } = await send(id);
        if (manifest.id !== id) throw new StewardError("backup_corrupt", `The copy is not the backup ${id}.`);
        await pipeline(content, createWriteStream(unfinished, { flags: "wx", mode: 0o600, flush: true }));
        await verifyArchive({ ...this.#options, manifest, content: createReadStream(unfinished) });
        const taken = { ...manifest, ...(cause && { cause }) };
        accept?.(taken);
        await this.add(taken, unfinished);
        return taken;
      } catch (error) {
        await rm(unfinished, { force: true });
        throw writeFailure(error, "The backup") ?? error;
      }
    });
  }

  /**
   * Merges a tenant's archive into the shared state of all chats. The gateway must not be running.
   *
   * @throws StewardError `backup_corrupt` before anything changes
   */
  mergeTenant(tenant: TenantId, archive: Archive): Promise<RestoreReport> {
    const { home, log } = this.#options;
    const { id } = archive.manifest;
    return this.runExclusively(async () => {
      const report = await withUnpackedArchive({ ...this.#options, ...archive }, (directory) =>
        mergeTenant(home, { tenant, id, directory }),
      );
      log.info("a chat's data was brought back", { tenant, id, ...report.counts });
      return report;
    });
  }

  /** The gateway must not be running. */
  replaceApprovals(approvals: Approvals): Promise<void> {
    return this.runExclusively(async () => replaceApprovals(this.#options.home, approvals));
  }

  async prune(): Promise<void> {
    for (const id of expiredGenerations(await this.list(), this.#options.clock())) await this.remove(id);
  }

  async verifyArchive(archive: Archive): Promise<RestoreReport> {
    return (await this.runExclusively(() => verifyArchive({ ...this.#options, ...archive }))).report;
  }

  showConfig(archive: Archive): Promise<ConfigText> {
    return this.runExclusively(async () => {
      const { config } = await this.#readConfig(archive);
      return (await this.#options.editConfig()).show(config);
    });
  }

  /**
   * Replaces the config file with the archive's, and keeps a copy of the current file. Does not restart the gateway.
   *
   * @throws StewardError `config_no_good` if the config is invalid for this version
   */
  takeConfig(archive: Archive): Promise<ConfigText> {
    return this.runExclusively(async () => {
      const { config, report } = await this.#readConfig(archive);
      const detail = `The config of the backup ${report.id} is not valid for this version.`;
      if (report.configProblems.length > 0) throw new StewardError("config_no_good", detail);
      const editor = await this.#options.editConfig();
      const expected = (await editor.read("file")).sha256 ?? "none";
      // Accept plain-text secrets, because the archived config may contain them.
      const taken = await editor.replace(config, { expected, unchecked: true, write: true });
      if (!("sha256" in taken)) throw new StewardError("config_no_good", detail);
      return taken;
    });
  }

  async #readConfig(archive: Archive): Promise<{ config: string; report: RestoreReport }> {
    const { config, report } = await verifyArchive({ ...this.#options, ...archive });
    if (config === undefined) throw new StewardError("config_missing", "The backup contains no config file.");
    return { config, report };
  }

  /** Also restarts the gateway. */
  async restore(id: string, config: ConfigSource): Promise<RestoreReport> {
    return this.#replace(await this.read({ id }), { config, start: true, copyFirst: true });
  }

  /** Replaces the state without backing it up first. */
  receive(archive: Archive, options: ReceiveOptions): Promise<RestoreReport> {
    return this.#replace(archive, { ...options, copyFirst: false });
  }

  #replace(
    archive: Archive,
    { start, ...how }: ReceiveOptions & { copyFirst: boolean },
  ): Promise<RestoreReport> {
    const { home, supervisor, log } = this.#options;
    return this.runExclusively(async () => {
      const report = await stageRestore({ ...this.#options, ...archive }, how);
      await supervisor.hold(RESTORING);
      try {
        const id = await finishRestore(home, () => this.#write({ cause: "restore" }));
        log.info("the state was restored", { id });
      } catch (error) {
        // Without the marker, the restore was cancelled and the state is intact.
        if (!exists(join(home, RESTORE_MARKER))) supervisor.release();
        else if (error instanceof StewardError) await supervisor.hold(error.reason);
        throw error;
      }
      await this.receiveEmpty({ start });
      return report;
    });
  }

  async receiveEmpty({ start }: Pick<ReceiveOptions, "start">): Promise<void> {
    if (start) this.#options.supervisor.release();
    else await this.#options.supervisor.stop();
  }

  /** Completes a restore that an earlier process began, and removes files that a crash left. */
  finishMarked(): Promise<void> {
    const { home, log } = this.#options;
    return this.runExclusively(async () => {
      const id = await finishRestore(home, () => this.#write({ cause: "restore" }));
      if (id !== undefined) log.info("an interrupted restore was completed", { id });
      await removeScratch(home);
      await this.removeUnfinished();
    });
  }

  async #write({
    id,
    ...options
  }: WriteOptions & { id?: string | undefined; part?: StatePart }): Promise<GenerationManifest> {
    const { log } = this.#options;
    this.#epoch ??= (await this.newestNumber()).epoch + 1;
    const name = id ?? (await this.nextId(this.#epoch));
    const manifest = await makeGeneration({ ...this.#options, ...options, backupDirectory: this, id: name });
    log.info("a backup was made", { id: manifest.id, size: manifest.size, ...manifest.counts });
    return manifest;
  }
}
