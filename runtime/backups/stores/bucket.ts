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

type Value = Parameters<R2Bucket["put"]>[1];

export interface StoredGeneration {
  id: string;
  /** Bytes; absent without an archive. */
  archiveSize?: number;
  storedAt: Date;
  /** True if the backup has a manifest, which is uploaded last. */
  published: boolean;
}

/** Age in milliseconds after which an archive without a manifest counts as abandoned. */
const UNFINISHED_MS = 3_600_000;

export interface BucketStoreOptions {
  bucket: R2Bucket;
  keys: StateKeys;
  sharesConfig: boolean;
  onConfig?: (() => void) | undefined;
  state: RemoteState;
  record: BackupRecord;
  clock: Clock;
  log: Log;
}

/**
 * A container's backups in its bucket. Uploads the archive before its manifest, so that an interrupted upload does
 * not count as a backup.
 */
export class BucketStore implements BackupStore<StreamedArchive["content"]> {
  readonly cached: CachedConfig;
  readonly #options: BucketStoreOptions;
  #stored: StoredGeneration[] = [];

  constructor(options: BucketStoreOptions) {
    this.#options = options;
    this.cached = new CachedConfig(options);
  }

  /** Lists all backups, including unfinished ones, newest first. */
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

  async list(): Promise<GenerationManifest[]> {
    const published = (await this.stored()).filter((one) => one.published);
    const read = await Promise.all(published.map((one) => this.manifest(one).catch(unlessCorrupt)));
    return read.filter((one) => one !== undefined);
  }

  async find(id: string): Promise<GenerationManifest> {
    const found = (await this.stored()).find((one) => one.id === id && one.published);
    if (found === undefined) throw new StewardError("backup_unknown");
    return this.manifest(found);
  }

  /**
   * Reads the manifest of a listed backup.
   *
   * @throws StewardError `backup_corrupt` if the manifest is unreadable, the archive is missing, or the archive's
   * size contradicts the manifest
   */
  async manifest({ id, archiveSize }: StoredGeneration): Promise<GenerationManifest> {
    const object = await this.#options.bucket.get(this.#keyOf(id, "manifest"));
    const { data } = generationManifest.safeParse(parseJson((await object?.text()) ?? ""));
    if (data?.id !== id)
      throw new StewardError("backup_corrupt", `This version cannot read the manifest of ${id}.`);
    if (archiveSize === data.size) return data;
    const there =
      archiveSize === undefined ? "is missing" : `has ${archiveSize} bytes instead of ${data.size}`;
    throw new StewardError("backup_corrupt", `The archive of ${id} ${there}.`);
  }

  /** @throws StewardError `backup_corrupt` if the archive is missing */
  async read(manifest: GenerationManifest): Promise<StreamedArchive> {
    const object = await this.#options.bucket.get(this.#keyOf(manifest.id, "archive"));
    if (object === null)
      throw new StewardError("backup_corrupt", `The archive of ${manifest.id} is missing.`);
    return { manifest, content: object.body as unknown as StreamedArchive["content"] };
  }

  /** Reads only the record, not the bucket. */
  async newest(): Promise<Partial<GenerationManifest>> {
    const { lastAt, counts } = this.#options.record.facts;
    return { ...(lastAt && { createdAt: lastAt }), ...(counts && { counts }) };
  }

  async cachedConfig(): Promise<string | undefined> {
    return (await this.cached.read()).config?.text;
  }

  /**
   * Prepares a backup and removes abandoned uploads.
   *
   * @throws StewardError `backup_failed` if the container's state has not been restored yet, `backup_stale` if
   * another deployment writes to the bucket
   */
  async prepare(): Promise<void> {
    const { record, clock } = this.#options;
    // Do not back up an incomplete state: the next start would restore it as the newest backup.
    if (!record.facts.restored)
      throw new StewardError("backup_failed", "The container's state has not been restored yet.");
    this.#stored = await this.stored();
    if ((this.#stored[0]?.id ?? "") > record.last) throw new StewardError("backup_stale");
    await this.cached.readOwn();
    const before = clock() - UNFINISHED_MS;
    for (const { id, published, storedAt } of this.#stored)
      if (!published && storedAt.getTime() < before) await this.#remove(id);
  }

  async write({ accept, cause }: WriteOptions): Promise<GenerationManifest> {
    const { state, record, log } = this.#options;
    const id = record.next();
    const manifest = { ...(await state.snapshot(id)), ...(cause && { cause }) };
    try {
      // Discard the copy if the container was restarted during copying: a restarted container's state is empty until
      // the restore.
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
        log.warn("a published copy could not be removed from the container", { id, error: String(error) });
      });
    }
    log.info("backup published", { id, size: manifest.size });
    this.#stored.push({ id, storedAt: new Date(manifest.createdAt), published: true });
    return manifest;
  }

  async prune(): Promise<void> {
    const { clock, log } = this.#options;
    const published = this.#stored.filter((one) => one.published);
    const aged = published.map(({ id, storedAt }) => ({ id, createdAt: storedAt.toISOString() }));
    try {
      for (const id of expiredGenerations(aged, clock())) await this.#remove(id);
    } catch (error) {
      // Only warn: the new backup is stored.
      log.warn("old backups could not be removed", { error: String(error) });
    }
  }

  /**
   * Streams an archive into the bucket, which verifies its digest. Then stores the manifest, which completes the
   * backup.
   *
   * @throws StewardError `backup_stale` if another writer has already used the backup's id
   */
  async publish(manifest: GenerationManifest, content: ReadableStream<Uint8Array>): Promise<void> {
    const { id, size, sha256 } = manifest;
    const sized = new FixedLengthStream(size);
    const cut = new AbortController();
    const piped = content.pipeTo(sized.writable as unknown as WritableStream, { signal: cut.signal });
    // Ignore a stream error here: the upload then also fails and reports the failure.
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

  /** Removes a backup, its manifest first. An archive without a manifest is later removed as abandoned. */
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
