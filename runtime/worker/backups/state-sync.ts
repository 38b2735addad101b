import type { R2Bucket } from "@cloudflare/workers-types/index.ts";
import type { ConfigSource, GenerationManifest, RestoreReport } from "../../contract/backup.ts";
import type { ConfigText } from "../../contract/control.ts";
import { StewardError, type Reason } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import { lastGood, lateness } from "../../edge/backups.ts";
import type { BackupsStatus, Clock } from "../../edge/ports.ts";
import { AskAgain } from "../alarm.ts";
import type { ContainerPorts } from "../container-ports.ts";
import type { ContainerMemory } from "../container-memory.ts";
import { GenerationBucket } from "./bucket.ts";
import { CachedObjects } from "./cached.ts";
import { BackupControl } from "./control.ts";
import { inWords } from "./in-words.ts";
import { Publisher, type PublishOptions } from "./publisher.ts";
import { BackupRecord } from "./record.ts";
import { Restorer } from "./restorer.ts";

/** Frequency with which a container that is awake is asked whether its state has moved. */
const LOOK_MS = 2 * 60_000;
const RETRY = { firstMs: 30_000, longestMs: 10 * 60_000 };
/** Copies before a stop, while something still moves. */
const LAST_COPIES = 3;

/** Dependencies of {@link StateSync}. */
export interface StateSyncOptions {
  bucket: R2Bucket;
  ports: ContainerPorts;
  notes: ContainerMemory;
  /** Tells whether the platform runs the container. */
  running(): boolean;
  /** Keeps the object until the work is over. */
  waitUntil(promise: Promise<unknown>): void;
  clock: Clock;
  log: Log;
}

/** Keeps the container's state and the bucket in step: restores it at a start, copies it while the container is awake. */
export class StateSync {
  readonly restorer: Restorer;
  readonly #options: StateSyncOptions;
  readonly #bucket: GenerationBucket;
  readonly #control: BackupControl;
  readonly #record: BackupRecord;
  readonly #cached: CachedObjects;
  readonly #publisher: Publisher;
  readonly #again = new AskAgain(RETRY);
  /** Per object: a new one looks at once. */
  #lookedAt = 0;
  /**
   * Time at which a copy was last made, or the newest one was found to hold everything. A new object has time for its
   * first look.
   */
  #provenAt: number;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: StateSyncOptions) {
    this.#options = options;
    this.#provenAt = options.clock();
    this.#bucket = new GenerationBucket(options.bucket);
    this.#control = new BackupControl(options.ports);
    this.#record = new BackupRecord(options.notes);
    this.#cached = new CachedObjects(options.bucket);
    const shared = {
      bucket: this.#bucket,
      cached: this.#cached,
      control: this.#control,
      record: this.#record,
      log: options.log,
    };
    this.restorer = new Restorer({
      ...shared,
      clock: options.clock,
      running: options.running,
      waitUntil: options.waitUntil,
    });
    this.#publisher = new Publisher({ ...shared, clock: options.clock });
  }

  /** Returns when the state was last copied, and what is wrong with the copies. */
  status(): BackupsStatus {
    const { lastAt, problem = this.restorer.reason ?? this.#lateness(), recovered } = this.#record.facts;
    return {
      ...(lastAt && { lastAt }),
      ...(problem && { problem }),
      ...(recovered && { recovered: { id: recovered.id, at: recovered.at } }),
    };
  }

  /** None while the container sleeps: it was copied before. */
  #lateness(): Reason | undefined {
    const { running, clock } = this.#options;
    if (!running() || !this.restorer.done) return undefined;
    const { restoredAt = 0 } = this.#record.facts;
    return lateness(Math.max(this.#provenAt, restoredAt), clock(), LOOK_MS);
  }

  /** Returns the published generations. Incomplete ones are left out. */
  async list(): Promise<GenerationManifest[]> {
    const published = (await this.#bucket.list()).filter((one) => one.published);
    const read = await Promise.all(published.map((one) => this.#bucket.manifest(one).catch(whereNotWhole)));
    return read.filter((one) => one !== undefined);
  }

  /** Returns a generation's manifest. @throws StewardError `backup_unknown` */
  async find(id: string): Promise<GenerationManifest> {
    const found = (await this.#bucket.list()).find((one) => one.id === id && one.published);
    if (found === undefined) throw new StewardError("backup_unknown");
    return this.#bucket.manifest(found);
  }

  /** Copies the state into the bucket as a new generation. */
  publish(options: PublishOptions): Promise<GenerationManifest> {
    return this.inTurn(() => this.#tried(() => this.#publisher.publish(options)));
  }

  /** Restores a generation into a scratch directory of the container, and checks it there. */
  verify(manifest: GenerationManifest): Promise<RestoreReport> {
    return this.inTurn(() => this.#put(manifest, { config: "generation", drill: true }));
  }

  /** Restores a generation. The current state is copied first, however much it has shrunk: that may be why. */
  restore(manifest: GenerationManifest, config: ConfigSource): Promise<RestoreReport> {
    return this.inTurn(async () => {
      await this.#tried(() => this.#publisher.publish({ force: true, cause: "restore" }));
      const report = await this.#put(manifest, { config });
      this.#record.note({ counts: manifest.counts, revision: undefined });
      // The container may end any time: its next start takes the newest copy. The record notes why there is none.
      await this.#tried(() => this.#publisher.publish({ force: true })).catch(() => undefined);
      return report;
    });
  }

  /** Returns the config in the bucket; `undefined` if there is none. */
  async cachedConfig(): Promise<string | undefined> {
    const { config } = await this.#cached.read();
    return config?.text;
  }

  /** Returns a generation's config. Read in the container, which has the archive's format and the file's secrets. */
  configOf(manifest: GenerationManifest): Promise<ConfigText> {
    return this.inTurn(async () => {
      const archive = await this.#bucket.archive(manifest.id);
      return this.#control.archivedConfig({ manifest, archive });
    });
  }

  /**
   * Gives a gateway that its config has stopped the last good one, once a start of the container.
   *
   * @returns whether it was given one.
   */
  async recoverConfig(why: Reason): Promise<boolean> {
    const { notes, clock, log } = this.#options;
    const start = notes.read("startedAt");
    if (this.#record.facts.recoveryOf === start) return false;
    this.#record.note({ recoveryOf: start });
    try {
      const manifest = lastGood(await this.list());
      const { id } = manifest;
      const { sha256 } = await this.inTurn(async () =>
        this.#control.takeConfig({ manifest, archive: await this.#bucket.archive(id) }),
      );
      this.#record.note({ recovered: { id, at: new Date(clock()).toISOString(), sha256 } });
      log.warn("the config was not valid: that of the last good backup was taken", {
        id,
        problem: why.detail,
      });
      return true;
    } catch (error) {
      log.error("no config could be recovered", { error: inWords(error, "config_no_good").message });
      return false;
    }
  }

  /** Returns true if the cached config in the bucket was deleted or replaced since the container took it. */
  async isCacheReplaced(): Promise<boolean> {
    if (!this.restorer.done) return false;
    const { seen } = this.#record.facts;
    const now = await this.#cached.read();
    const byHand = now.config !== undefined && !now.config.synced && now.config.etag !== seen.config;
    return byHand || this.#cached.isCleared(now, seen);
  }

  /** Returns when {@link look} is due, milliseconds since the epoch; `undefined` while there is nothing to copy. */
  get nextAt(): number | undefined {
    if (!this.restorer.done) return undefined;
    const { restoredAt = 0 } = this.#record.facts;
    return Math.max(this.#lookedAt + LOOK_MS, restoredAt + LOOK_MS, this.#again.at);
  }

  /** Copies a state that has moved, in the background. */
  look(): void {
    const { clock, waitUntil } = this.#options;
    if (this.nextAt === undefined || this.nextAt > clock()) return;
    this.#lookedAt = clock();
    // Why there is none is noted and logged by the publisher.
    const copied = this.inTurn(() => this.#tried(() => this.#publisher.publishMoved()));
    waitUntil(copied.catch(() => undefined));
  }

  /** Returns when a copy that failed is retried; 0 if none failed. The container stays awake until then. */
  get againAt(): number {
    return this.#again.at;
  }

  /** The last copy before the container is stopped. @returns whether it may be stopped. */
  async leave(): Promise<boolean> {
    if (!this.restorer.done) return !this.restorer.underWay;
    return this.inTurn(async () => {
      if (!(await this.#control.answers())) {
        this.#options.log.error("the container is stopped without a copy: its supervisor does not answer");
        return true;
      }
      return this.#again.at <= this.#options.clock() && this.#copiedToTheEnd();
    });
  }

  async #copiedToTheEnd(): Promise<boolean> {
    for (let copies = 0; copies < LAST_COPIES; copies += 1) {
      const made = await this.#tried(() => this.#publisher.publishMoved()).catch(() => undefined);
      if (!made) return made === false;
    }
    return true;
  }

  /** A copy that fails is made again after a while. */
  async #tried<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      this.#provenAt = this.#options.clock();
      this.#again.recovered();
      return result;
    } catch (error) {
      this.#again.failed(this.#options.clock());
      throw error;
    }
  }

  async #put(...upload: Parameters<Restorer["put"]>): Promise<RestoreReport> {
    try {
      return await this.restorer.put(...upload);
    } catch (error) {
      throw inWords(error, "restore_failed");
    }
  }

  /** Runs one piece of work at a time: the supervisor refuses a second one. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

function whereNotWhole(error: unknown): undefined {
  if (error instanceof StewardError && error.code === "backup_corrupt") return undefined;
  throw error;
}
