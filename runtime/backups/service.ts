import {
  type BackupCause,
  type ConfigSource,
  type GenerationManifest,
  newestValid,
  type RestoreReport,
} from "../contract/backup.ts";
import type { ConfigText } from "../contract/control.ts";
import { type ErrorCode, reason, type Reason, StewardError } from "../contract/errors.ts";
import type { Backups, BackupsStatus, Clock, RecoveredConfig } from "../edge/ports.ts";
import { backoffMs } from "../shared/backoff.ts";
import type { Log } from "../shared/log.ts";
import type { BackupRecord, Recovery } from "./record.ts";
import { lateReason, shrinkage } from "./retention.ts";
import type { Archive, BackupStore, GatewayState } from "./store.ts";

const RETRY = { firstMs: 30_000, longestMs: 10 * 60_000 };

export interface BackupServiceOptions<Content> {
  /** Returns the store and the state. Asynchronous, because a host loads their modules on first use. */
  open(): Promise<{ store: BackupStore<Content>; state: GatewayState<Content> }>;
  record: BackupRecord;
  everyMs: number;
  /** Makes the state accessible, for example by starting the container. */
  awake?(): Promise<void>;
  /** True to queue operations. By default, the store refuses concurrent ones. */
  queues?: boolean;
  /** Time of the restore in milliseconds since the epoch; `undefined` until a state is restored. */
  restoredAt(): number | undefined;
  obstacle?(): Reason | undefined;
  /** Converts an error before it is thrown. Default: no conversion. */
  coded?(error: unknown, code: ErrorCode): StewardError;
  /** Logs a failure. @returns true if the backups' status should report it */
  failed(what: string, why: Reason): boolean;
  recovery: {
    /** Returns the id of the gateway's run. A config is recovered at most once per run. */
    run(): string | undefined;
    keep(recovery: Recovery): void;
    read(): RecoveredConfig | undefined;
  };
  clock: Clock;
  log: Log;
}

interface CopyOptions {
  /** Backs up even if the state contains far less than the previous backup. */
  force?: boolean;
  cause?: BackupCause;
}

export class BackupService<Content> implements Backups {
  readonly #options: BackupServiceOptions<Content>;
  /** Time of the last backup, or of the last check that found the newest one up to date. */
  #provenAt: number;
  #failures = 0;
  #againAt = 0;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: BackupServiceOptions<Content>) {
    this.#options = options;
    // Do not count the time before this service's start when checking whether a backup is late.
    this.#provenAt = options.clock();
  }

  /** True while an operation needs the container awake. */
  get busy(): boolean {
    return this.#waiting > 0;
  }

  /** Time when a failed operation may be retried, in milliseconds since the epoch; 0 after a success. */
  get againAt(): number {
    return this.#againAt;
  }

  async status(): Promise<BackupsStatus> {
    const { open, record, obstacle, recovery } = this.#options;
    const { createdAt } = await (await open()).store.newest();
    const { problem = obstacle?.() ?? this.#lateness() } = record.facts;
    const recovered = recovery.read();
    return {
      ...(createdAt && { lastAt: createdAt }),
      ...(problem && { problem }),
      ...(recovered && { recovered: { id: recovered.id, at: recovered.at } }),
    };
  }

  #lateness(): Reason | undefined {
    const { restoredAt, clock, everyMs } = this.#options;
    const at = restoredAt();
    return at === undefined ? undefined : lateReason(Math.max(this.#provenAt, at), clock(), everyMs);
  }

  async list(): Promise<GenerationManifest[]> {
    return (await this.#options.open()).store.list();
  }

  create(options: CopyOptions = {}): Promise<GenerationManifest> {
    return this.whileAwake(() => this.#copy(options));
  }

  async verify(id: string): Promise<RestoreReport> {
    return this.#withBackup(id, (read, state) =>
      this.#withCode("restore_failed", async () => state.verifyArchive(await read())),
    );
  }

  /** Restores a backup. First backs up the current state, even if it appears to have lost data. */
  async restore(id: string, config: ConfigSource): Promise<RestoreReport> {
    const { open, record } = this.#options;
    const { store } = await open();
    const inPlace = store.restore?.bind(store);
    if (inPlace !== undefined) {
      return this.#attempt("a restore", async () => {
        const report = await inPlace(id, config);
        await store.prune();
        return report;
      });
    }
    return this.#withBackup(id, async (read, state) => {
      await this.#copy({ force: true, cause: "restore" });
      const { counts, report } = await this.#withCode("restore_failed", async () => {
        const archive = await read();
        const received = await state.receive(archive, { config, start: true });
        return { counts: archive.manifest.counts, report: received };
      });
      record.note({ counts, revision: undefined });
      // Back up the restored state. Otherwise, the container's next start would undo the restore. Ignore failures,
      // which `#copy` records.
      await this.#copy({ force: true }).catch(() => undefined);
      return report;
    });
  }

  async cachedConfig(): Promise<string | undefined> {
    return (await this.#options.open()).store.cachedConfig?.();
  }

  async download(id: string): Promise<ReadableStream<Uint8Array>> {
    const { store } = await this.#options.open();
    const { content } = await store.read(await store.find(id));
    // Return the bucket's own stream if possible: a wrapped stream cannot be sent from the Durable Object.
    return content instanceof ReadableStream
      ? content
      : ReadableStream.from(content as AsyncIterable<Uint8Array>);
  }

  async configOf(id: string): Promise<ConfigText> {
    return this.#withBackup(id, async (read, state) => state.showConfig(await read()));
  }

  /**
   * Backs up the state if it has changed since the last backup.
   *
   * @returns true if a backup was made
   */
  copyChanged(): Promise<boolean> {
    return this.#attempt("a backup", async () => {
      const { open, record } = this.#options;
      const { state } = await open();
      if ((await state.revision()) === record.facts.revision) return false;
      await this.#write({});
      return true;
    });
  }

  /**
   * Restores the last good config if the current one stopped the gateway, at most once per run.
   *
   * @returns true if it was replaced
   */
  async recoverConfig(why: Reason): Promise<boolean> {
    const { open, record, recovery, clock, log } = this.#options;
    const run = recovery.run();
    if (record.facts.recoveryOf === run) return false;
    record.note({ recoveryOf: run });
    try {
      const { store, state } = await open();
      const manifest = newestValid(await store.list());
      const { id } = manifest;
      const { sha256 } = await this.inTurn(async () => state.takeConfig(await store.read(manifest)));
      log.warn("the config was invalid and was replaced with that of the last good backup", {
        id,
        problem: why.detail,
      });
      recovery.keep({ id, at: new Date(clock()).toISOString(), sha256 });
      return true;
    } catch (error) {
      const known = this.#options.coded?.(error, "config_no_good") ?? error;
      const text = known instanceof Error ? known.message : String(known);
      log.error("no config could be recovered", { error: text });
      return false;
    }
  }

  /** Runs `work`: after all earlier operations if the service's option `queues` is true, otherwise immediately. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#options.queues !== true) return work();
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #withBackup<T>(
    id: string,
    work: (read: () => Promise<Archive<Content>>, state: GatewayState<Content>) => Promise<T>,
  ): Promise<T> {
    const { store, state } = await this.#options.open();
    const manifest = await store.find(id);
    return this.whileAwake(() => work(() => store.read(manifest), state));
  }

  /** Runs `work` when its turn comes. Until `work` ends, keeps the container awake, if there is one. */
  async whileAwake<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting += 1;
    try {
      await this.#options.awake?.();
      return await this.inTurn(work);
    } finally {
      this.#waiting -= 1;
    }
  }

  #copy(options: CopyOptions): Promise<GenerationManifest> {
    return this.#attempt("a backup", () => this.#write(options));
  }

  async #write({ force = false, cause }: CopyOptions): Promise<GenerationManifest> {
    const { open, record } = this.#options;
    const { store, state } = await open();
    await store.prepare?.();
    // Read the revision first, so that a write during the copy causes another backup.
    const revision = await state.revision();
    const before = await store.newest();
    const accept = ({ counts }: GenerationManifest): void => {
      const loss = before.counts && !force ? shrinkage(before.counts, counts) : undefined;
      const against = before.id === undefined ? "It looks like a loss" : `Against the backup ${before.id}`;
      if (loss !== undefined) throw new StewardError("backup_refused", `${against}: ${loss}.`);
    };
    const manifest = await store.write({ accept, cause });
    record.note({ revision, counts: manifest.counts, lastAt: manifest.createdAt });
    await store.prune();
    return manifest;
  }

  async #attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
    const { record, failed, clock } = this.#options;
    try {
      const result = await this.#withCode("backup_failed", work);
      this.#provenAt = clock();
      [this.#failures, this.#againAt] = [0, 0];
      if (record.facts.problem !== undefined) record.note({ problem: undefined });
      return result;
    } catch (error) {
      this.#failures += 1;
      this.#againAt = clock() + backoffMs(RETRY, this.#failures);
      const why = error instanceof StewardError ? error.reason : reason("backup_failed", String(error));
      if (failed(what, why)) record.note({ problem: why });
      throw error;
    }
  }

  async #withCode<T>(code: ErrorCode, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#options.coded?.(error, code) ?? error;
    }
  }
}
