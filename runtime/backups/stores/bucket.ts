import type { R2Bucket, R2Object } from "@cloudflare/workers-types/index.ts";
import {
  GENERATION_FILES,
  generationId,
  generationManifest,
  type GenerationManifest,
} from "../../contract/backup.ts";
import { StewardError } from "../../contract/errors.ts";
import type { StateKeys } from "../../contract/tenant.ts";
import type { Clock } from "../../edge/ports.ts";
import { parseJson } from "../../shared/json.ts";
import type { Log } from "../../shared/log.ts";
import type { BackupRecord } from "../record.ts";
import type { RemoteState, StreamedArchive } from "../remote-state.ts";
import { expiredGenerations } from "../retention.ts";
import type { BackupStore, WriteOptions } from "../store.ts";
import { ABSENT, CachedConfig } from "./cached-config.ts";

/** The binding's value for a stream: its types and Node's describe the same object differently. */
type Value = Parameters<R2Bucket["put"]>[1];

/** One generation's files in the bucket, unread. */
export interface StoredGeneration {
  id: string;
  /** In bytes; absent if there is no archive. */
  archiveSize?: number;
  /** Time at which the first of them was stored. */
  storedAt: Date;
  /** Without a manifest the generation does not exist: its upload was interrupted. */
  published: boolean;
}

/** Age after which an archive without a manifest counts as unfinished. */
const UNFINISHED_MS = 3_600_000;

/** Dependencies of {@link BucketStore}. */
export interface BucketStoreOptions {
  bucket: R2Bucket;
  keys: StateKeys;
  /** See {@link CachedConfig}. */
  sharesConfig: boolean;
  /** See {@link CachedConfig}. */
  onConfig?: (() => void) | undefined;
  /** The container's state. */
  state: RemoteState;
  record: BackupRecord;
  clock: Clock;
  log: Log;
}

/**
 * A container's backups in its bucket. Each is written once: archive, manifest, cached config, marker. An interrupted
 * upload leaves what the bucket held before.
 */
export class BucketStore implements BackupStore<StreamedArchive["content"]> {
  readonly cached: CachedConfig;
  readonly #options: BucketStoreOptions;
  /** As of the last copy. */
  #stored: StoredGeneration[] = [];

  constructor(options: BucketStoreOptions) {
    this.#options = options;
    this.cached = new CachedConfig(options);
  }

  /** Returns the generations, newest first, unfinished ones too. */
  async stored(): Promise<StoredGeneration[]> {
    const { bucket, keys } = this.#options;
    const found = new Map<string, StoredGeneration>();
    let cursor: string | undefined;
    do {
      const page = await bucket.list({ prefix: keys.generations, ...(cursor && { cursor }) });
      for (const object of page.objects) note(found, object, keys.generations);
      cursor = page.truncated ? page.cursor : undefined;
    } while (cursor !== undefined);
    return [...found.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  /** See {@link BackupStore}. */
  async list(): Promise<GenerationManifest[]> {
    const published = (await this.stored()).filter((one) => one.published);
    const read = await Promise.all(published.map((one) => this.manifest(one).catch(unlessCorrupt)));
    return read.filter((one) => one !== undefined);
  }

  /** See {@link BackupStore}. */
  async find(id: string): Promise<GenerationManifest> {
    const found = (await this.stored()).find((one) => one.id === id && one.published);
    if (found === undefined) throw new StewardError("backup_unknown");
    return this.manifest(found);
  }

  /**
   * Reads the manifest of a listed generation.
   *
   * @throws StewardError `backup_corrupt` if it is unreadable, or the archive is missing or has another size
   */
  async manifest({ id, archiveSize }: StoredGeneration): Promise<GenerationManifest> {
    const object = await this.#options.bucket.get(this.#keyOf(id, "manifest"));
    const { data } = generationManifest.safeParse(parseJson((await object?.text()) ?? ""));
    if (data?.id !== id)
      throw new StewardError("backup_corrupt", `The manifest of ${id} is none that this version reads.`);
    if (archiveSize === data.size) return data;
    const there = archiveSize === undefined ? "is missing" : `has ${archiveSize} bytes and not ${data.size}`;
    throw new StewardError("backup_corrupt", `The archive of ${id} ${there}.`);
  }

  /** See {@link BackupStore}. @throws StewardError `backup_corrupt` if the archive is missing */
  async read(manifest: GenerationManifest): Promise<StreamedArchive> {
    const object = await this.#options.bucket.get(this.#keyOf(manifest.id, "archive"));
    if (object === null)
      throw new StewardError("backup_corrupt", `The archive of ${manifest.id} is missing.`);
    return { manifest, content: object.body as unknown as StreamedArchive["content"] };
  }

  /** See {@link BackupStore}. Reads the record alone. */
  async newest(): Promise<Partial<GenerationManifest>> {
    const { lastAt, counts } = this.#options.record.facts;
    return { ...(lastAt && { createdAt: lastAt }), ...(counts && { counts }) };
  }

  /** See {@link BackupStore}. */
  async cachedConfig(): Promise<string | undefined> {
    return (await this.cached.read()).config?.text;
  }

  /**
   * See {@link BackupStore}. Removes what an interrupted upload left.
   *
   * @throws StewardError `backup_stale` if another deployment writes to the bucket
   */
  async prepare(): Promise<void> {
    const { record, clock } = this.#options;
    // A copy of half a state would be taken for the newest one at the next start.
    if (!record.facts.restored)
      throw new StewardError("backup_failed", "The container has not got its state back yet.");
    this.#stored = await this.stored();
    if ((this.#stored[0]?.id ?? "") > record.last) throw new StewardError("backup_stale");
    await this.cached.readOwn();
    const before = clock() - UNFINISHED_MS;
    for (const { id, published, storedAt } of this.#stored)
      if (!published && storedAt.getTime() < before) await this.#remove(id);
  }

  /** See {@link BackupStore}. */
  async write({ accept, cause }: WriteOptions): Promise<GenerationManifest> {
    const { state, record, log } = this.#options;
    const id = record.next();
    const manifest = { ...(await state.snapshot(id)), ...(cause && { cause }) };
    try {
      // A container that was started meanwhile may have had no data yet.
      if (!record.facts.restored || record.last !== id)
        throw new StewardError("backup_failed", "The container was restarted while its state was copied.");
      accept?.(manifest);
      await this.publish(manifest, await state.archive(id));
      const config = await state.configText();
      if (record.facts.recovered && record.facts.recovered.sha256 !== config.sha256)
        record.note({ recovered: undefined });
      await this.cached.sync(id, config);
    } finally {
      await state.discard(id).catch((error: unknown) => {
        log.warn("the container keeps a copy that was published", { id, error: String(error) });
      });
    }
    log.info("backup published", { id, size: manifest.size });
    this.#stored.push({ id, storedAt: new Date(manifest.createdAt), published: true });
    return manifest;
  }

  /** See {@link BackupStore}. */
  async prune(): Promise<void> {
    const { clock, log } = this.#options;
    const published = this.#stored.filter((one) => one.published);
    const aged = published.map(({ id, storedAt }) => ({ id, createdAt: storedAt.toISOString() }));
    try {
      for (const id of expiredGenerations(aged, clock())) await this.#remove(id);
    } catch (error) {
      // The copy is made: the next one removes what remains.
      log.warn("old backups could not be removed", { error: String(error) });
    }
  }

  /**
   * Stores an archive while it arrives, never all of it in memory, then the manifest, with which the generation begins
   * to exist. The bucket verifies the archive's digest.
   *
   * @throws StewardError `backup_stale` if another writer has taken its name
   */
  async publish(manifest: GenerationManifest, content: ReadableStream<Uint8Array>): Promise<void> {
    const { id, size, sha256 } = manifest;
    const sized = new FixedLengthStream(size);
    const cut = new AbortController();
    const piped = content.pipeTo(sized.writable as unknown as WritableStream, { signal: cut.signal });
    // A stream that breaks off fails the put as well, which reports it.
    piped.catch(() => {});
    try {
      await this.#put(id, "archive", sized.readable as unknown as Value, { sha256 });
    } finally {
      cut.abort();
    }
    const httpMetadata = { contentType: "application/json" };
    await this.#put(id, "manifest", JSON.stringify(manifest), { httpMetadata });
  }

  async #put(id: string, file: File, value: Value, options: object): Promise<void> {
    const stored = await this.#options.bucket.put(this.#keyOf(id, file), value, {
      ...options,
      onlyIf: ABSENT,
    });
    if (stored === null) throw new StewardError("backup_stale", `${id} was written by another deployment.`);
  }

  /** Removes the manifest first: without it the rest is unfinished. */
  async #remove(id: string): Promise<void> {
    for (const file of ["manifest", "archive"] as const)
      await this.#options.bucket.delete(this.#keyOf(id, file));
  }

  #keyOf(id: string, file: File): string {
    return `${this.#options.keys.generations}${id}${GENERATION_FILES[file]}`;
  }
}

type File = keyof typeof GENERATION_FILES;

function note(found: Map<string, StoredGeneration>, { key, size, uploaded }: R2Object, prefix: string): void {
  const name = key.slice(prefix.length);
  const ending = Object.values(GENERATION_FILES).find((one) => name.endsWith(one));
  const id = ending === undefined ? "" : name.slice(0, -ending.length);
  // Other files in the folder are not generations.
  if (!generationId.safeParse(id).success) return;
  const known = found.get(id) ?? { id, storedAt: uploaded, published: false };
  found.set(id, {
    ...known,
    ...(ending === GENERATION_FILES.archive && { archiveSize: size }),
    storedAt: uploaded < known.storedAt ? uploaded : known.storedAt,
    published: known.published || ending === GENERATION_FILES.manifest,
  });
}

function unlessCorrupt(error: unknown): undefined {
  if (error instanceof StewardError && error.code === "backup_corrupt") return undefined;
  throw error;
}
