import type { R2Bucket } from "@cloudflare/workers-types/index.ts";
import type { ConfigSource, GenerationManifest } from "../contract/backup.ts";
import { reason, type Reason, StewardError } from "../contract/errors.ts";
import type { StateKeys } from "../contract/tenant.ts";
import type { Clock, Notes } from "../edge/ports.ts";
import { backoffMs, pause } from "../shared/backoff.ts";
import type { Log } from "../shared/log.ts";
import type { ChatReturns } from "./chat-returns.ts";
import { BackupRecord, type Received } from "./record.ts";
import { withErrorCode, RemoteState, type StreamedArchive, type SupervisorPort } from "./remote-state.ts";
import { BackupService } from "./service.ts";
import { BucketStore, type StoredGeneration } from "./stores/bucket.ts";
import type { Cached } from "./stores/cached-config.ts";

/** Interval in milliseconds between checks for a changed state while the container is awake. */
const LOOK_MS = 2 * 60_000;
/**
 * Maximum backups per attempt to stop the container. If the state changes during a backup, another backup follows.
 */
const LAST_COPIES = 3;
const RETRY = { firstMs: 1_000, longestMs: 30_000 };

interface ContainerBackupsOptions {
  bucket: R2Bucket;
  keys: StateKeys;
  sharesConfig: boolean;
  onConfig?: (() => void) | undefined;
  ports: SupervisorPort;
  /**
   * Merges the data of chats that had their own sandboxes into the shared state. Set only if this sandbox serves all
   * chats.
   */
  returns?: Pick<ChatReturns, "find" | "mergeAll"> | undefined;
  notes: Notes;
  running(): boolean;
  whenRestored(): Promise<void>;
  waitUntil(promise: Promise<unknown>): void;
  clock: Clock;
  log: Log;
}

/**
 * Restores a container's state from the bucket before its gateway starts. Backs up the state while the container is
 * awake, and again before the container stops.
 */
export class ContainerBackups {
  /** Backup operations for operators. Operations that need the container start it. */
  readonly service: BackupService<StreamedArchive["content"]>;
  readonly #options: ContainerBackupsOptions;
  readonly #record: BackupRecord;
  readonly #state: RemoteState;
  readonly #store: BucketStore;
  #run = 0;
  #restoring: Promise<void> | undefined;
  #underWay = false;
  #restoreFailure: Reason | undefined;
  /** Time of the last check for changed state, in milliseconds since the epoch. */
  #lookedAt = 0;

  constructor(options: ContainerBackupsOptions) {
    const { ports, notes, running, log } = options;
    const [record, state] = [new BackupRecord(notes), new RemoteState(ports)];
    const store = new BucketStore({ ...options, record, state });
    this.#options = options;
    this.#record = record;
    this.#state = state;
    this.#store = store;
    this.service = new BackupService({
      ...options,
      record,
      open: async () => ({ store, state }),
      everyMs: LOOK_MS,
      awake: () => options.whenRestored(),
      queues: true,
      // A sleeping container was backed up before it stopped. Without a restore time, no backup counts as late.
      restoredAt: () => (running() ? this.#restoredAt : undefined),
      obstacle: () => this.#restoreFailure,
      coded: withErrorCode,
      failed: (_what, { detail }) => {
        log.error("no backup was published", { error: detail });
        return true;
      },
      recovery: {
        run: () => notes.read("startedAt"),
        keep: (recovered) => record.note({ recovered }),
        read: () => record.facts.recovered,
      },
    });
  }

  get restored(): boolean {
    return this.#record.facts.restored;
  }

  /** Time of the newest backup in milliseconds since the epoch; `undefined` if there is none. */
  get lastAt(): number | undefined {
    const { lastAt } = this.#record.facts;
    return lastAt === undefined ? undefined : Date.parse(lastAt);
  }

  /** Absent after a successful restore. */
  get restoreFailure(): Reason | undefined {
    return this.#restoreFailure;
  }

  /** Reason why the deployment's config was refused; absent if the container uses it. */
  get refusedConfig(): Reason | undefined {
    return this.#record.facts.refusedConfig;
  }

  started(): void {
    this.#run += 1;
    this.#record.note({
      restored: false,
      starting: undefined,
      revision: undefined,
      refusedConfig: undefined,
    });
  }

  /**
   * Restores in the background, and retries until the restore succeeds or the container ends. Does nothing if already
   * restored or restoring.
   */
  beginRestore(): void {
    if (this.restored || this.#restoring !== undefined) return;
    this.#restoring = this.#untilRestored().finally(() => {
      this.#restoring = undefined;
    });
    this.#options.waitUntil(this.#restoring);
  }

  async #untilRestored(): Promise<void> {
    const { running, log } = this.#options;
    for (let attempt = 1; running(); attempt += 1) {
      try {
        this.#underWay = true;
        await this.#restore().finally(() => {
          this.#underWay = false;
        });
        return;
      } catch (error) {
        if (!running()) return;
        const { message } = withErrorCode(error, "restore_failed");
        this.#restoreFailure = reason("restore_failed", message);
        log.error("the state could not be restored", { error: message });
        await pause(backoffMs(RETRY, attempt));
      }
    }
  }

  async #restore(): Promise<void> {
    const { returns, running, clock, log } = this.#options;
    const [record, store, run] = [this.#record, this.#store, this.#run];
    // Do not await this promise yet, so that the bucket is read while the container boots.
    const listening = this.#state.listening(running);
    const reading = [store.stored(), store.cached.read(), returns?.find(), listening] as const;
    const [stored, cached, found] = await Promise.all(reading);
    const { starting } = record.facts;
    // Do not restore if the gateway has already been started: a restore would discard what the gateway has stored.
    const received =
      starting !== undefined && (await this.#state.hasGateway())
        ? starting
        : await this.#restoreAndStart(stored, cached, found);
    if (run !== this.#run) throw new Error("The container was restarted.");
    record.begin(stored[0]?.id);
    record.note({ ...received, starting: undefined, restored: true, restoredAt: clock() });
    this.#restoreFailure = undefined;
    log.info("the state is restored", { copiedAt: received.lastAt ?? "never" });
  }

  /** Restores the data, records that the gateway is about to start, and starts it. */
  async #restoreAndStart(
    stored: StoredGeneration[],
    cached: Cached,
    found: Awaited<ReturnType<ChatReturns["find"]>> | undefined,
  ): Promise<Received> {
    const waits = found !== undefined && found.size > 0;
    const { received, byHand } = await this.#restoreNewest(stored, cached, waits);
    if (waits) await this.#options.returns?.mergeAll(found);
    if (byHand === undefined && !waits) return received;
    this.#record.note({ starting: received });
    await (byHand === undefined ? this.#state.startGateway() : this.#state.startWithConfig(byHand));
    return received;
  }

  /**
   * Restores the newest intact backup, or an empty state if there are no backups. Also starts the gateway, unless the
   * caller must first merge chats' data (`waits`) or write the returned config (`byHand`).
   */
  async #restoreNewest(
    stored: StoredGeneration[],
    cached: Cached,
    waits: boolean,
  ): Promise<{ received: Received; byHand: string | undefined }> {
    const seen = { config: cached.config?.etag, marker: cached.marker?.etag };
    const broken: string[] = [];
    for (const one of stored.filter(({ published }) => published)) {
      try {
        const manifest = await this.#store.manifest(one);
        const { counts, createdAt: lastAt } = manifest;
        const { config, byHand } = chooseConfig(cached, manifest);
        const start = byHand === undefined && !waits;
        const detail = `${manifest.id} was restored, because newer backups are damaged. ${broken.join(" ")}`;
        const problem = broken.length > 0 ? reason("backup_corrupt", detail) : undefined;
        const received = { counts, lastAt, problem, seen };
        const archive = await this.#store.read(manifest);
        if (start) this.#record.note({ starting: received });
        await this.#state.receive(archive, { config, start });
        return { received, byHand };
      } catch (error) {
        if (!(error instanceof StewardError) || error.code !== "backup_corrupt") throw error;
        this.#options.log.error("a backup is damaged", { id: one.id, error: error.message });
        broken.push(`${one.id}: ${error.message}`);
      }
    }
    // Starting empty although backups exist would lose the data.
    if (broken.length > 0)
      throw new StewardError("restore_failed", `No backup is intact. ${broken.join(" ")}`);
    const { byHand } = chooseConfig(cached, undefined);
    const start = byHand === undefined && !waits;
    const received = { counts: undefined, lastAt: undefined, problem: undefined, seen };
    if (start) this.#record.note({ starting: received });
    await this.#state.receiveEmpty({ start });
    return { received, byHand };
  }

  async isCacheReplaced(): Promise<boolean> {
    return this.restored && this.#store.cached.isReplaced();
  }

  get #restoredAt(): number | undefined {
    return this.restored ? (this.#record.facts.restoredAt ?? 0) : undefined;
  }

  /** Time at which {@link poll} is due, in milliseconds since the epoch; `undefined` before the restore. */
  get nextAt(): number | undefined {
    const restoredAt = this.#restoredAt;
    if (restoredAt === undefined) return undefined;
    return Math.max(this.#lookedAt + LOOK_MS, restoredAt + LOOK_MS, this.service.againAt);
  }

  /**
   * If {@link nextAt} has passed, applies the deployment's config and backs up changed state, both in the background.
   */
  poll(): void {
    const { clock } = this.#options;
    if (this.nextAt !== undefined && this.nextAt <= clock()) this.pollNow();
  }

  /** Works like {@link poll}, but immediately. */
  pollNow(): void {
    const { clock, waitUntil, sharesConfig } = this.#options;
    this.#lookedAt = clock();
    if (sharesConfig) waitUntil(this.followConfig());
    const copied = this.service.inTurn(() => this.service.copyChanged());
    // Ignore a failure here: the service records and logs it.
    waitUntil(copied.catch(() => undefined));
  }

  /**
   * Applies a changed deployment config to a running container, which keeps its current config if the new config is
   * invalid. Never rejects.
   */
  followConfig(): Promise<void> {
    return this.service.inTurn(async () => {
      const { log } = this.#options;
      try {
        const config = this.restored ? await this.#store.cached.replacement() : undefined;
        if (config === undefined) return;
        const refusedConfig = await this.#state.replaceConfig(config.text);
        this.#record.note({ refusedConfig, seen: { ...this.#record.facts.seen, config: config.etag } });
        if (refusedConfig === undefined) log.info("the deployment's config was applied");
        else log.error("the deployment's config was refused", { ...refusedConfig });
      } catch (error) {
        log.warn("the deployment's config could not be applied", { error: String(error) });
      }
    });
  }

  /** @returns true if the container may be stopped */
  async makeFinalBackup(): Promise<boolean> {
    const { clock, log } = this.#options;
    if (!this.restored) return !this.#underWay;
    return this.service.inTurn(async () => {
      if (!(await this.#state.answers())) {
        log.error("the container is stopped without a final backup: its supervisor does not answer");
        return true;
      }
      return this.service.againAt <= clock() && this.#copyAll();
    });
  }

  async #copyAll(): Promise<boolean> {
    for (let copies = 0; copies < LAST_COPIES; copies += 1) {
      const made = await this.service.copyChanged().catch(() => undefined);
      if (!made) return made === false;
    }
    return true;
  }
}

/**
 * Chooses the initial config (specification, sections 2 and 7).
 *
 * The result's `config` is `fresh` (start with a new file) if there is no backup, or if the bucket contains neither a
 * config nor a marker. Otherwise, `config` is `generation` (use the config file from the backup). `byHand` is the
 * text of the config in the bucket. `byHand` is set only if the config in the bucket must replace the file chosen by
 * `config`.
 */
function chooseConfig(
  { config: cached, marker }: Cached,
  manifest: GenerationManifest | undefined,
): { config: ConfigSource; byHand?: string } {
  if (cached === undefined)
    return { config: manifest === undefined || marker === undefined ? "fresh" : "generation" };
  if (manifest === undefined) return { config: "fresh", byHand: cached.text };
  const same = cached.synced || cached.sha256 === manifest.configSha256;
  return { config: "generation", ...(!same && { byHand: cached.text }) };
}
