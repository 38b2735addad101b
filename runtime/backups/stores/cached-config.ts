import type { R2Bucket, R2Object } from "@cloudflare/workers-types/index.ts";
import type { LastSync } from "../../contract/backup.ts";
import type { ConfigText } from "../../contract/control.ts";
import { sha256Hex } from "../../contract/digest.ts";
import { StewardError } from "../../contract/errors.ts";
import type { StateKeys } from "../../contract/tenant.ts";
import type { Clock } from "../../edge/ports.ts";
import type { Log } from "../../shared/log.ts";
import type { BackupRecord, Seen } from "../record.ts";

/** The cached config and the marker of the last sync, if they exist. */
export interface Cached {
  config?: {
    text: string;
    etag: string;
    sha256: string;
    /** True if the config is unchanged since a sync wrote it. */
    synced: boolean;
  };
  marker?: { text: string; etag: string };
}

const WRITTEN = "sha256";
const HTTP_METADATA = { contentType: "application/json" };
/** Condition that prevents an upload from replacing an existing object. */
export const ABSENT = { etagDoesNotMatch: "*" } as const;

interface CachedConfigOptions {
  bucket: R2Bucket;
  keys: StateKeys;
  /** True if the config belongs to the deployment, so this sandbox must not write it. */
  sharesConfig: boolean;
  onConfig?: (() => void) | undefined;
  record: BackupRecord;
  clock: Clock;
  log: Log;
}

export class CachedConfig {
  readonly #options: CachedConfigOptions;

  constructor(options: CachedConfigOptions) {
    this.#options = options;
  }

  async read(): Promise<Cached> {
    const { bucket, keys, sharesConfig } = this.#options;
    const [config, marker] = await Promise.all([bucket.get(keys.config), bucket.get(keys.marker)]);
    const described = config && (await describe(config, await config.text()));
    return {
      // Never treat a shared config as synced, because this sandbox does not write it.
      ...(described !== null && { config: { ...described, synced: described.synced && !sharesConfig } }),
      ...(marker !== null && { marker: { text: await marker.text(), etag: marker.etag } }),
    };
  }

  /**
   * Reads the cached config and the marker that records the config's last sync.
   *
   * @throws StewardError `backup_stale` if another deployment has written the marker
   */
  async readOwn(): Promise<Cached> {
    const now = await this.read();
    const { seen } = this.#options.record.facts;
    const { marker } = now;
    if (marker === undefined || marker.etag === seen.marker || marker.text === seen.tried) return now;
    throw new StewardError("backup_stale");
  }

  /**
   * Returns true if the config was edited, or the config or its sync marker was deleted, since this Durable Object
   * last recorded their etags.
   */
  async isReplaced(): Promise<boolean> {
    // Read the record before the bucket. Otherwise, a sync between these reads would look like a deletion.
    const { seen } = this.#options.record.facts;
    const now = await this.read();
    return byHand(now, seen) !== undefined || isCleared(now, seen);
  }

  /** Returns the bucket's config if somebody wrote it after the container last read it; `undefined` otherwise. */
  async replacement(): Promise<Cached["config"]> {
    return byHand(await this.read(), this.#options.record.facts.seen);
  }

  /**
   * Writes the container's config to the bucket, then a marker that names the backup to which the config belongs.
   *
   * @throws StewardError `backup_stale` if another deployment has written the marker
   */
  async sync(generation: string, config: ConfigText): Promise<void> {
    const { bucket, keys, record, clock, log } = this.#options;
    const now = await this.readOwn();
    const { seen } = record.facts;
    if (isCleared(now, seen)) {
      log.info("the cached config was deleted; it is not written again before the next start");
      return;
    }
    const at = new Date(clock()).toISOString();
    const marker: LastSync = { version: 1, generation, at, configSha256: config.sha256 };
    const tried = JSON.stringify(marker);
    record.note({ seen: { ...seen, tried } });
    const configEtag = (await this.#putConfig(config, now)) ?? seen.config;
    const options = { onlyIf: ifUnchanged(now.marker), httpMetadata: HTTP_METADATA };
    const stored = await bucket.put(keys.marker, tried, options);
    if (stored === null) throw new StewardError("backup_stale");
    record.note({ seen: { config: configEtag, marker: stored.etag } });
  }

  /**
   * Writes the config into the bucket, unless an operator has edited the bucket's config since the container read it.
   *
   * @returns the new etag; `undefined` if the config was not written
   */
  async #putConfig({ text, sha256 }: ConfigText, now: Cached): Promise<string | undefined> {
    const { bucket, keys, sharesConfig, onConfig, record } = this.#options;
    const { config } = now;
    if (text === null || sharesConfig || byHand(now, record.facts.seen) !== undefined) return undefined;
    const customMetadata = { [WRITTEN]: await sha256Hex(text) };
    const options = { onlyIf: ifUnchanged(config), customMetadata, httpMetadata: HTTP_METADATA };
    const stored = await bucket.put(keys.config, text, options);
    if (stored !== null && sha256 !== config?.sha256) onConfig?.();
    return stored?.etag;
  }
}

function byHand({ config }: Cached, seen: Seen): Cached["config"] {
  return config === undefined || config.synced || config.etag === seen.config ? undefined : config;
}

/**
 * Returns true if the cached config or its sync marker has been deleted since this Durable Object last saw them. A
 * sync must then write neither of them, because the operator may be deleting both.
 */
function isCleared(now: Cached, seen: Seen): boolean {
  const markerGone = seen.marker !== undefined && now.marker === undefined;
  return markerGone || (seen.config !== undefined && now.config === undefined);
}

function ifUnchanged(known: { etag: string } | undefined) {
  return known === undefined ? ABSENT : { etagMatches: known.etag };
}

async function describe({ etag, customMetadata }: R2Object, text: string) {
  const sha256 = await sha256Hex(text);
  return { text, sha256, etag, synced: customMetadata?.[WRITTEN] === sha256 };
}
