import type { BackupCause, GenerationManifest, LastSync } from "../../contract/backup.ts";
import { StewardError } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import { expired, shrank } from "../../edge/backups.ts";
import type { Clock } from "../../edge/ports.ts";
import type { GenerationBucket, StoredGeneration } from "./bucket.ts";
import type { CachedObjects } from "./cached.ts";
import type { BackupControl } from "./control.ts";
import { inWords } from "./in-words.ts";
import type { BackupRecord } from "./record.ts";

/** An archive without a manifest is taken for unfinished so long. */
const UNFINISHED_MS = 3_600_000;

/** Dependencies of {@link Publisher}. */
export interface PublisherOptions {
  bucket: GenerationBucket;
  cached: CachedObjects;
  control: BackupControl;
  record: BackupRecord;
  clock: Clock;
  log: Log;
}

/** Options of a copy. */
export interface PublishOptions {
  /** Also where it holds far less than the one before. */
  force?: boolean;
  cause?: BackupCause;
}

/**
 * Carries a copy of the container's state into the bucket: archive, manifest, cached config, marker. Whatever
 * ends it on the way, what the bucket held before is still there, and a generation without manifest is none.
 */
export class Publisher {
  readonly #options: PublisherOptions;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /** Makes a copy unless nothing has changed since the last one. @returns whether it made one. */
  async publishMoved(): Promise<boolean> {
    const { control, record } = this.#options;
    return this.#noted(async () => {
      if ((await control.revision()) !== record.facts.revision) {
        await this.#publish({});
        return true;
      }
      // The newest copy holds all there is, whatever had failed.
      if (record.facts.problem !== undefined) record.note({ problem: undefined });
      return false;
    });
  }

  /** Makes a copy. @throws StewardError why there is none; also noted as the status' problem. */
  async publish(options: PublishOptions = {}): Promise<GenerationManifest> {
    return this.#noted(() => this.#publish(options));
  }

  async #noted<T>(work: () => Promise<T>): Promise<T> {
    const { record, log } = this.#options;
    try {
      return await work();
    } catch (error) {
      const known = inWords(error, "backup_failed");
      record.note({ problem: known.reason });
      log.error("no backup was published", { error: known.message });
      throw known;
    }
  }

  async #publish({ force = false, cause }: PublishOptions): Promise<GenerationManifest> {
    const { bucket, cached, control, record, log } = this.#options;
    // A copy of half a state would be taken for the newest one at the next start.
    if (!record.facts.restored)
      throw new StewardError("backup_failed", "The container has not got its state back yet.");
    const stored = await bucket.list();
    if ((stored[0]?.id ?? "") > record.last) throw new StewardError("backup_stale");
    cached.checkMarker(await cached.read(), record.facts.seen);
    await this.#tidy(stored);

    const revision = await control.revision();
    const id = record.next();
    const manifest = { ...(await control.snapshot(id)), ...(cause && { cause }) };
    try {
      const before = record.facts.counts;
      const loss = before && !force ? shrank(before, manifest.counts) : undefined;
      if (loss !== undefined) throw new StewardError("backup_refused", `It looks like a loss: ${loss}.`);
      await bucket.putArchive(manifest, await control.archive(id));
      await bucket.putManifest(manifest);
      await this.#sync(manifest);
    } finally {
      await this.#discard(id);
    }
    const { counts, createdAt } = manifest;
    record.note({ revision, counts, lastAt: createdAt, problem: undefined });
    log.info("backup published", { id, size: manifest.size });
    await this.#expire([...stored, { id, storedAt: new Date(createdAt), published: true }]);
    return manifest;
  }

  async #sync({ id }: GenerationManifest): Promise<void> {
    const { cached, control, record, clock, log } = this.#options;
    const config = await control.configText();
    const { seen, recovered } = record.facts;
    if (recovered !== undefined && recovered.sha256 !== config.sha256) record.note({ recovered: undefined });
    const now = await cached.read();
    cached.checkMarker(now, seen);
    if (cached.isCleared(now, seen)) {
      log.info("the cached config was deleted: it is left so until the next start");
      return;
    }
    const at = new Date(clock()).toISOString();
    const marker: LastSync = { version: 1, generation: id, at, configSha256: config.sha256 };
    const tried = JSON.stringify(marker);
    record.note({ seen: { ...seen, tried } });
    const configEtag = await cached.putConfig(config, now);
    record.note({ seen: { config: configEtag, marker: await cached.putMarker(tried, now) } });
  }

  /** Removes what another attempt has left behind without a manifest. */
  async #tidy(stored: StoredGeneration[]): Promise<void> {
    const before = this.#options.clock() - UNFINISHED_MS;
    const left = stored.filter(({ published, storedAt }) => !published && storedAt.getTime() < before);
    for (const { id } of left) await this.#options.bucket.remove(id);
  }

  async #expire(stored: StoredGeneration[]): Promise<void> {
    const { bucket, clock, log } = this.#options;
    const published = stored.filter((one) => one.published);
    const aged = published.map(({ id, storedAt }) => ({ id, createdAt: storedAt.toISOString() }));
    try {
      for (const id of expired(aged, clock())) await bucket.remove(id);
    } catch (error) {
      // The copy is made: what is too many is removed with the next one.
      log.warn("old backups could not be removed", { error: String(error) });
    }
  }

  async #discard(id: string): Promise<void> {
    const { control, log } = this.#options;
    await control.discard(id).catch((error: unknown) => {
      log.warn("the container keeps a copy that was published", { id, error: String(error) });
    });
  }
}
