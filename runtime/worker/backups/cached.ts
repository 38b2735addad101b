import { sha256Hex } from "../../contract/digest.ts";
import type { R2Bucket } from "@cloudflare/workers-types/index.ts";
import { BUCKET_KEYS } from "../../contract/backup.ts";
import type { ConfigText } from "../../contract/control.ts";
import { StewardError } from "../../contract/errors.ts";
import { ABSENT } from "./bucket.ts";

/** The cached config file as it lies in the bucket. */
interface CachedConfig {
  text: string;
  etag: string;
  /** Of the text. */
  sha256: string;
  /** A sync wrote it, and it has not changed since. */
  synced: boolean;
}

/** The two objects of the specification, section 2, those of them that are there. */
export interface Cached {
  config?: CachedConfig;
  marker?: { text: string; etag: string };
}

/** Etags of the two objects that this Durable Object saw last. */
export interface Seen {
  config?: string | undefined;
  marker?: string | undefined;
  /** The marker that it tried to write last: its own, even if the answer was lost. */
  tried?: string | undefined;
}

const WRITTEN = "sha256";
const HTTP_METADATA = { contentType: "application/json" };

/** The cached config file and the last sync's marker. */
export class CachedObjects {
  readonly #bucket: R2Bucket;

  constructor(bucket: R2Bucket) {
    this.#bucket = bucket;
  }

  /** Returns what lies there now. */
  async read(): Promise<Cached> {
    const [config, marker] = await Promise.all([
      this.#bucket.get(BUCKET_KEYS.config),
      this.#bucket.get(BUCKET_KEYS.marker),
    ]);
    return {
      ...(config !== null && { config: await readConfig(config) }),
      ...(marker !== null && { marker: { text: await marker.text(), etag: marker.etag } }),
    };
  }

  /**
   * Tells whether another deployment has written the marker since.
   *
   * @throws StewardError `backup_stale` where it has.
   */
  checkMarker({ marker }: Cached, seen: Seen): void {
    const own = marker === undefined || marker.etag === seen.marker || marker.text === seen.tried;
    if (!own) throw new StewardError("backup_stale");
  }

  /**
   * The operator has deleted one of the two while the container runs: both are left alone until the next start,
   * which has to find them gone. Whoever deletes them does so one after the other.
   */
  isCleared(now: Cached, seen: Seen): boolean {
    const markerGone = seen.marker !== undefined && now.marker === undefined;
    return markerGone || (seen.config !== undefined && now.config === undefined);
  }

  /**
   * Writes the config, but for one that somebody wrote by hand meanwhile: it waits for the next start.
   * @returns the etag of what lies there then.
   */
  async putConfig({ text }: ConfigText, { config }: Cached): Promise<string | undefined> {
    if (text === null || config?.synced === false) return config?.etag;
    const onlyIf = config === undefined ? ABSENT : { etagMatches: config.etag };
    const customMetadata = { [WRITTEN]: await sha256Hex(text) };
    const options = { onlyIf, customMetadata, httpMetadata: HTTP_METADATA };
    return (await this.#bucket.put(BUCKET_KEYS.config, text, options))?.etag ?? config?.etag;
  }

  /**
   * Writes the marker over the one that was read. @returns its etag.
   *
   * @throws StewardError `backup_stale` where another deployment was faster.
   */
  async putMarker(text: string, { marker }: Cached): Promise<string> {
    const onlyIf = marker === undefined ? ABSENT : { etagMatches: marker.etag };
    const stored = await this.#bucket.put(BUCKET_KEYS.marker, text, { onlyIf, httpMetadata: HTTP_METADATA });
    if (stored === null) throw new StewardError("backup_stale");
    return stored.etag;
  }
}

/** Returns what is remembered of the two. */
export function seenOf({ config, marker }: Cached): Seen {
  return {
    ...(config !== undefined && { config: config.etag }),
    ...(marker !== undefined && { marker: marker.etag }),
  };
}

async function readConfig(object: NonNullable<Awaited<ReturnType<R2Bucket["get"]>>>): Promise<CachedConfig> {
  const text = await object.text();
  const sha256 = await sha256Hex(text);
  return { text, sha256, etag: object.etag, synced: object.customMetadata?.[WRITTEN] === sha256 };
}
