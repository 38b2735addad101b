import { parseJson } from "../../shared/json.ts";
import type { R2Bucket, R2Object, R2ObjectBody } from "@cloudflare/workers-types/index.ts";
import {
  BUCKET_KEYS,
  GENERATION_FILES,
  generationId,
  generationManifest,
  type GenerationManifest,
} from "../../contract/backup.ts";
import { StewardError } from "../../contract/errors.ts";

/** The binding's value for a stream: its types and Node's describe the same object differently. */
type Value = Parameters<R2Bucket["put"]>[1];

/** One generation's files in the bucket, without a look into them. */
export interface StoredGeneration {
  id: string;
  /** In bytes; absent where there is no archive. */
  archiveSize?: number;
  /** Time at which the first of them was stored. */
  storedAt: Date;
  /** Without a manifest the generation does not exist: its publishing ended on the way. */
  published: boolean;
}

/** Condition of a put where nothing lies yet. */
export const ABSENT = { etagDoesNotMatch: "*" } as const;

/** The generations in the bucket. Each is written once and never changed. */
export class GenerationBucket {
  readonly #bucket: R2Bucket;

  constructor(bucket: R2Bucket) {
    this.#bucket = bucket;
  }

  /** Returns what is there, newest first, unfinished ones too. */
  async list(): Promise<StoredGeneration[]> {
    const found = new Map<string, StoredGeneration>();
    let cursor: string | undefined;
    do {
      const page = await this.#bucket.list({ prefix: BUCKET_KEYS.generations, ...(cursor && { cursor }) });
      for (const object of page.objects) note(found, object);
      cursor = page.truncated ? page.cursor : undefined;
    } while (cursor !== undefined);
    return [...found.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  /**
   * Reads a listed generation's manifest.
   *
   * @throws StewardError `backup_corrupt` where it is none, or its archive is missing or of another size.
   */
  async manifest({ id, archiveSize }: StoredGeneration): Promise<GenerationManifest> {
    const object = await this.#bucket.get(manifestKey(id));
    const manifest = generationManifest.safeParse(parseJson((await object?.text()) ?? ""));
    if (!manifest.success || manifest.data.id !== id)
      throw new StewardError("backup_corrupt", `The manifest of ${id} is none that this version reads.`);
    const { size } = manifest.data;
    if (archiveSize !== size) {
      const there = archiveSize === undefined ? "is missing" : `has ${archiveSize} bytes and not ${size}`;
      throw new StewardError("backup_corrupt", `The archive of ${id} ${there}.`);
    }
    return manifest.data;
  }

  /** An archive as a stream of known length. @throws StewardError `backup_corrupt` where it is missing. */
  async archive(id: string): Promise<ReadableStream<Uint8Array>> {
    const object: R2ObjectBody | null = await this.#bucket.get(archiveKey(id));
    if (object === null) throw new StewardError("backup_corrupt", `The archive of ${id} is missing.`);
    return object.body as unknown as ReadableStream<Uint8Array>;
  }

  /**
   * Stores an archive while it comes in, never the whole of it in memory; the bucket checks its sum.
   *
   * @throws StewardError `backup_stale` where another writer has taken its name.
   */
  async putArchive(
    { id, size, sha256 }: GenerationManifest,
    body: ReadableStream<Uint8Array>,
  ): Promise<void> {
    const sized = new FixedLengthStream(size);
    const cut = new AbortController();
    const piped = body.pipeTo(sized.writable as unknown as WritableStream, { signal: cut.signal });
    // A stream that breaks off fails the put as well, which tells it.
    piped.catch(() => {});
    try {
      const value = sized.readable as unknown as Value;
      this.#stored(id, await this.#bucket.put(archiveKey(id), value, { sha256, onlyIf: ABSENT }));
    } finally {
      cut.abort();
    }
  }

  /** Stores a manifest, with which its generation begins to exist. */
  async putManifest(manifest: GenerationManifest): Promise<void> {
    const key = manifestKey(manifest.id);
    const httpMetadata = { contentType: "application/json" };
    const text = JSON.stringify(manifest);
    this.#stored(manifest.id, await this.#bucket.put(key, text, { onlyIf: ABSENT, httpMetadata }));
  }

  /** Removes a generation; one that is left half removed has no manifest any more. */
  async remove(id: string): Promise<void> {
    await this.#bucket.delete(manifestKey(id));
    await this.#bucket.delete(archiveKey(id));
  }

  #stored(id: string, object: R2Object | null): void {
    if (object === null) throw new StewardError("backup_stale", `${id} was written by another deployment.`);
  }
}

function note(found: Map<string, StoredGeneration>, { key, size, uploaded }: R2Object): void {
  const name = key.slice(BUCKET_KEYS.generations.length);
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

function archiveKey(id: string): string {
  return `${BUCKET_KEYS.generations}${id}${GENERATION_FILES.archive}`;
}

function manifestKey(id: string): string {
  return `${BUCKET_KEYS.generations}${id}${GENERATION_FILES.manifest}`;
}
