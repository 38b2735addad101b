import {
  type GenerationManifest,
  type GenerationNumber,
  nameGeneration,
  readGenerationId,
} from "../contract/backup.ts";
import type { Reason } from "../contract/errors.ts";
import type { Notes, RecoveredConfig } from "../edge/ports.ts";

const NOTE = "backups";

/** State that a container has received. */
export interface Received {
  /** Amount that the container began with, or the newest copy holds. */
  counts?: GenerationManifest["counts"] | undefined;
  /** ISO 8601: when the newest copy was made. */
  lastAt?: string | undefined;
  problem?: Reason | undefined;
  seen: Seen;
}

/** Facts of the backups that the next copy depends on. */
interface Facts extends GenerationNumber, Received {
  /** The running container has received its data: only then is its state worth a copy. */
  restored: boolean;
  /** Time in milliseconds since the epoch. */
  restoredAt?: number;
  /** Of the state, when the newest copy was begun; absent if none was made since the start. */
  revision?: string | undefined;
  /** Set before the gateway is started: an object that is lost then has not noted that it was. */
  starting?: Received | undefined;
  /** Why the container keeps another config than the deployment's. */
  refusedConfig?: Reason | undefined;
  /** A recovery, with the digest of the config that it has put in place. */
  recovered?: Recovery | undefined;
  /** Name of the run in which a recovery was tried last. */
  recoveryOf?: string | undefined;
}

/** Etags of the cached config and the marker that this Durable Object saw last. */
export interface Seen {
  config?: string | undefined;
  marker?: string | undefined;
  /** The marker that it tried to write last: its own, even if the answer was lost. */
  tried?: string | undefined;
}

/** A config that was restored from a backup, with the SHA-256 of the file then. */
export type Recovery = RecoveredConfig & { sha256: string | null };

const NOTHING: Facts = { restored: false, epoch: 0, sequence: 0, seen: {} };

/** Remembers the facts about the backups. A Durable Object keeps them as a note, which outlives its memory. */
export class BackupRecord {
  readonly #notes: Notes;
  /** As written: it is read with every event. */
  #facts: Facts | undefined;

  constructor(notes: Notes = { read: () => undefined, write: () => undefined }) {
    this.#notes = notes;
  }

  /** Returns the facts. */
  get facts(): Readonly<Facts> {
    this.#facts ??= { ...NOTHING, ...(JSON.parse(this.#notes.read(NOTE) ?? "{}") as Partial<Facts>) };
    return this.#facts;
  }

  /** Changes some of them. */
  note(changes: Partial<Facts>): void {
    const facts = { ...this.facts, ...changes };
    this.#notes.write(NOTE, JSON.stringify(facts));
    this.#facts = facts;
  }

  /** Moves the epoch past every one that the bucket holds, at the start of a container's run. */
  begin(newest: string | undefined): void {
    const written = newest === undefined ? 0 : readGenerationId(newest).epoch;
    this.note({ epoch: Math.max(this.facts.epoch, written) + 1, sequence: 0 });
  }

  /** The name that was taken last. */
  get last(): string {
    return nameGeneration(this.facts);
  }

  /** Takes the next name. Noted before it is used, so that no name is used twice. */
  next(): string {
    this.note({ sequence: this.facts.sequence + 1 });
    return this.last;
  }
}
