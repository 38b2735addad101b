import type { BackupCause, ConfigSource, GenerationManifest, RestoreReport } from "../contract/backup.ts";
import type { ConfigText } from "../contract/control.ts";

export interface Archive<Content = AsyncIterable<Uint8Array>> {
  content: Content;
  manifest: GenerationManifest;
}

export interface WriteOptions {
  cause?: BackupCause | undefined;
  /** Checks a new backup's manifest. If this function throws, the backup is discarded. */
  accept?(manifest: GenerationManifest): void;
}

export interface BackupStore<Content> {
  /** Returns the complete backups, newest first. */
  list(): Promise<GenerationManifest[]>;
  /** @throws StewardError `backup_unknown` */
  find(id: string): Promise<GenerationManifest>;
  read(manifest: GenerationManifest): Promise<Archive<Content>>;
  /** Returns facts about the newest backup. If there is none, `counts` may describe the container's initial state. */
  newest(): Promise<Partial<Pick<GenerationManifest, "id" | "createdAt" | "counts">>>;
  prepare?(): Promise<void>;
  write(options: WriteOptions): Promise<GenerationManifest>;
  prune(): Promise<void>;
  /** Returns the cached config that the next start uses, if the store has one. */
  cachedConfig?(): Promise<string | undefined>;
  /** Backs up the current state, then replaces it entirely or not at all, even if the power fails. */
  restore?(id: string, config: ConfigSource): Promise<RestoreReport>;
}

export interface ReceiveOptions {
  config: ConfigSource;
  /** False leaves the gateway stopped. */
  start: boolean;
}

export interface GatewayState<Content> {
  /** Returns a string that changes whenever the state does. */
  revision(): Promise<string>;
  verifyArchive(archive: Archive<Content>): Promise<RestoreReport>;
  receive(archive: Archive<Content>, options: ReceiveOptions): Promise<RestoreReport>;
  /**
   * Returns an archive's config with secrets masked. Also returns the SHA-256 of the current config file (not the
   * archive's), so that the caller can detect changes.
   */
  showConfig(archive: Archive<Content>): Promise<ConfigText>;
  takeConfig(archive: Archive<Content>): Promise<ConfigText>;
}
