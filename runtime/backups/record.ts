import {
  type GenerationManifest,
  type GenerationNumber,
  nameGeneration,
  readGenerationId,
} from "../contract/backup.ts";
import type { Reason } from "../contract/errors.ts";
import type { Notes, RecoveredConfig } from "../edge/ports.ts";

const NOTE = "backups";

export interface Received {
  /** Counts of sessions, messages and the like in the backup that was last made or restored. */
  counts?: GenerationManifest["counts"] | undefined;
  /** Time of the newest backup, ISO 8601. */
  lastAt?: string | undefined;
  problem?: Reason | undefined;
  seen: Seen;
}

interface Facts extends GenerationNumber, Received {
  /** True once the container has its data. Before that, its state must not be backed up. */
  restored: boolean;
  /** Milliseconds since the epoch. */
  restoredAt?: number;
  /** Revision of the state when the newest backup began; absent if this container run has made no backup. */
  revision?: string | undefined;
  /** Restored backup, recorded before the gateway starts, so that a new Durable Object does not restore it again. */
  starting?: Received | undefined;
  refusedConfig?: Reason | undefined;
  /**
   * Recovery that produced the config now in use, with the digest of the recovered file. Absent if that config was
   * not recovered.
   */
  recovered?: Recovery | undefined;
  recoveryOf?: string | undefined;
}

/** Last seen etags of the bucket's config and of the marker that records the config's last sync. */
export interface Seen {
  config?: string | undefined;
  marker?: string | undefined;
  /**
   * Text of a marker whose write is unconfirmed, for example because the response was lost. If the stored marker has
   * this text, this Durable Object wrote the marker.
   */
  tried?: string | undefined;
}

export type Recovery = RecoveredConfig & { sha256: string | null };

const NOTHING: Facts = { restored: false, epoch: 0, sequence: 0, seen: {} };

/** Stores facts about backups, so that they survive an eviction of the Durable Object. */
export class BackupRecord {
  readonly #notes: Notes;
  /** Cached, because every event reads it. */
  #facts: Facts | undefined;

  constructor(notes: Notes = { read: () => undefined, write: () => undefined }) {
    this.#notes = notes;
  }

  get facts(): Readonly<Facts> {
    this.#facts ??= { ...NOTHING, ...(JSON.parse(this.#notes.read(NOTE) ?? "{}") as Partial<Facts>) };
    return this.#facts;
  }

  note(changes: Partial<Facts>): void {
    const facts = { ...this.facts, ...changes };
    this.#notes.write(NOTE, JSON.stringify(facts));
    this.#facts = facts;
  }

  /**
   * Begins a container run. Its epoch exceeds those of the last run and of `newest`, the newest backup in the bucket.
   */
  begin(newest: string | undefined): void {
    const written = newest === undefined ? 0 : readGenerationId(newest).epoch;
    this.note({ epoch: Math.max(this.facts.epoch, written) + 1, sequence: 0 });
  }

  get last(): string {
    return nameGeneration(this.facts);
  }

  /** Returns the next backup's name. Records it first, so that no name is used twice. */
  next(): string {
    this.note({ sequence: this.facts.sequence + 1 });
    return this.last;
  }
}
