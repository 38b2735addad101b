import type { BackupCause, ConfigSource, GenerationManifest, RestoreReport } from "../contract/backup.ts";
import type { ConfigText } from "../contract/control.ts";

/** A backup's archive and its manifest. */
export interface Archive<Content = AsyncIterable<Uint8Array>> {
  content: Content;
  manifest: GenerationManifest;
}

/** Options of a copy that a store makes. */
export interface WriteOptions {
  cause?: BackupCause | undefined;
  /** Judges the copy before it can be listed. If it throws, nothing is stored. */
  accept?(manifest: GenerationManifest): void;
}

/** A place that holds backups: a bucket, or the disk beside the state. */
export interface BackupStore<Content> {
  /** Returns the complete ones, newest first. */
  list(): Promise<GenerationManifest[]>;
  /** @throws StewardError `backup_unknown` */
  find(id: string): Promise<GenerationManifest>;
  read(manifest: GenerationManifest): Promise<Archive<Content>>;
  /** Returns what is known of the newest backup, or of the state that the container began with. */
  newest(): Promise<Partial<Pick<GenerationManifest, "id" | "createdAt" | "counts">>>;
  /** Verifies that a copy may be written now. */
  prepare?(): Promise<void>;
  /** Copies the state into a new backup. */
  write(options: WriteOptions): Promise<GenerationManifest>;
  /** Removes the backups that are no longer kept. */
  prune(): Promise<void>;
  /** Returns the config that the next start uses, if the store has one beside the backups. */
  cachedConfig?(): Promise<string | undefined>;
  /** Replaces the state in one step that survives a power cut, after a copy of the current state. */
  restore?(id: string, config: ConfigSource): Promise<RestoreReport>;
}

/** Options of replacing the state with an archive. */
export interface ReceiveOptions {
  config: ConfigSource;
  /** True if the gateway starts then; else it is left stopped. */
  start: boolean;
}

/** The gateway's state: in a container, or in this process's data directory. */
export interface GatewayState<Content> {
  /** Returns a text that changes whenever the state does. */
  revision(): Promise<string>;
  /** Unpacks an archive beside the state and checks it. */
  verifyArchive(archive: Archive<Content>): Promise<RestoreReport>;
  /** Replaces the state with an archive. */
  receive(archive: Archive<Content>, options: ReceiveOptions): Promise<RestoreReport>;
  /** Returns an archive's config, its secrets marked as those of the current file. */
  showConfig(archive: Archive<Content>): Promise<ConfigText>;
  /** Replaces the config file with an archive's. */
  takeConfig(archive: Archive<Content>): Promise<ConfigText>;
}
