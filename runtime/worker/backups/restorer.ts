import { backoffMs } from "../../shared/backoff.ts";
import type { ConfigSource, GenerationManifest, RestoreReport } from "../../contract/backup.ts";
import { reason, type Reason, StewardError } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import type { Clock } from "../../edge/ports.ts";
import { pause } from "../alarm.ts";
import type { GenerationBucket, StoredGeneration } from "./bucket.ts";
import { type Cached, type CachedObjects, seenOf } from "./cached.ts";
import type { BackupControl } from "./control.ts";
import { inWords } from "./in-words.ts";
import type { BackupRecord } from "./record.ts";

/** The wait before the second attempt, then twice as long each time. */
const RETRY = { firstMs: 1_000, longestMs: 30_000 };

/** Dependencies of {@link Restorer}. */
interface RestorerOptions {
  bucket: GenerationBucket;
  cached: CachedObjects;
  control: BackupControl;
  record: BackupRecord;
  /** Tells whether the platform runs the container. */
  running(): boolean;
  /** Keeps the object until an attempt is over. */
  waitUntil(promise: Promise<unknown>): void;
  clock: Clock;
  log: Log;
}

/** Gives a container that has just been started its data. Its gateway does not start without. */
export class Restorer {
  readonly #options: RestorerOptions;
  #run = 0;
  #working: Promise<void> | undefined;
  #attempting = false;
  #reason: Reason | undefined;

  constructor(options: RestorerOptions) {
    this.#options = options;
  }

  /** The container that runs has its data. */
  get done(): boolean {
    return this.#options.record.facts.restored;
  }

  /** Data is on its way into the container. */
  get underWay(): boolean {
    return this.#attempting;
  }

  /** Why the last attempt failed; absent once one has succeeded. */
  get reason(): Reason | undefined {
    return this.#reason;
  }

  /** A container is about to be started, without any data. */
  started(): void {
    this.#run += 1;
    this.#options.record.note({ restored: false, revision: undefined });
  }

  /** Tries in the background until it is done or the container ends. Whoever calls meanwhile changes nothing. */
  begin(): void {
    if (this.done || this.#working !== undefined) return;
    this.#working = this.#untilDone().finally(() => {
      this.#working = undefined;
    });
    this.#options.waitUntil(this.#working);
  }

  async #untilDone(): Promise<void> {
    for (let attempt = 1; this.#options.running(); attempt += 1) {
      this.#attempting = true;
      const failed = await this.#attempt().finally(() => {
        this.#attempting = false;
      });
      if (failed === undefined || !this.#options.running()) return;
      this.#reason = reason("restore_failed", failed.message);
      this.#options.log.error("the state could not be restored", { error: failed.message });
      await pause(backoffMs(RETRY, attempt));
    }
  }

  async #attempt(): Promise<StewardError | undefined> {
    try {
      await this.#restore();
      return undefined;
    } catch (error) {
      return inWords(error, "restore_failed");
    }
  }

  async #restore(): Promise<void> {
    const { bucket, cached, control, record, running, clock, log } = this.#options;
    const run = this.#run;
    // The bucket is read while the container is still booting.
    const [stored, found] = await Promise.all([bucket.list(), cached.read(), control.listening(running)]);
    const published = stored.filter((one) => one.published);
    const { manifest, damaged } = await this.#newestWhole(published, found);
    if (run !== this.#run) throw new Error("The container was restarted.");
    record.begin(stored[0]?.id);
    record.note({
      restored: true,
      restoredAt: clock(),
      counts: manifest?.counts,
      lastAt: manifest?.createdAt,
      problem: damaged,
      seen: seenOf(found),
    });
    this.#reason = undefined;
    log.info("the state is restored", { id: manifest?.id ?? "none" });
  }

  async #newestWhole(published: StoredGeneration[], found: Cached) {
    const { bucket, control, log } = this.#options;
    const broken: string[] = [];
    for (const one of published) {
      try {
        const manifest = await bucket.manifest(one);
        const { source, byHand } = chooseConfig(found, manifest);
        await this.put(manifest, { config: source, hold: byHand !== undefined });
        if (byHand !== undefined) await control.startWith(byHand);
        return { manifest, damaged: damage(broken, manifest) };
      } catch (error) {
        if (!(error instanceof StewardError) || error.code !== "backup_corrupt") throw error;
        log.error("a backup is not whole", { id: one.id, error: error.message });
        broken.push(`${one.id}: ${error.message}`);
      }
    }
    // An empty state in the place of one that is there would be the loss itself.
    if (broken.length > 0)
      throw new StewardError("restore_failed", `No backup is whole. ${broken.join(" ")}`);
    const { byHand } = chooseConfig(found, undefined);
    await control.beginEmpty({ hold: byHand !== undefined });
    if (byHand !== undefined) await control.startWith(byHand);
    return {};
  }

  /** Streams a generation into the container. */
  async put(
    manifest: GenerationManifest,
    how: { config: ConfigSource; hold?: boolean; drill?: boolean },
  ): Promise<RestoreReport> {
    const { bucket, control } = this.#options;
    return control.restore({ ...how, manifest, archive: await bucket.archive(manifest.id) });
  }
}

function damage(broken: string[], { id }: GenerationManifest): Reason | undefined {
  if (broken.length === 0) return undefined;
  return reason(
    "backup_corrupt",
    `${id} was restored, since what is newer is not whole. ${broken.join(" ")}`,
  );
}

/** Choice of the config file that the container begins with. */
interface ConfigChoice {
  source: ConfigSource;
  /** The text that somebody put into the bucket by hand, which takes the file's place. */
  byHand?: string;
}

/**
 * The cached config counts where somebody wrote it by hand; both objects deleted ask for a fresh one from the
 * environment (specification, sections 2 and 7). Else the generation's own is the newest.
 */
function chooseConfig({ config, marker }: Cached, manifest: GenerationManifest | undefined): ConfigChoice {
  if (config === undefined)
    return { source: manifest === undefined || marker === undefined ? "fresh" : "generation" };
  if (manifest === undefined) return { source: "fresh", byHand: config.text };
  const same = config.synced || config.sha256 === manifest.configSha256;
  return { source: "generation", ...(!same && { byHand: config.text }) };
}
