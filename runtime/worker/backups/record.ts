import {
  type GenerationManifest,
  type GenerationNumber,
  nameGeneration,
  readGenerationId,
} from "../../contract/backup.ts";
import type { Reason } from "../../contract/errors.ts";
import type { RecoveredConfig } from "../../edge/ports.ts";
import type { ContainerMemory } from "../container-memory.ts";
import type { Seen } from "./cached.ts";

const NOTE = "backups";

/** Facts of the copies that must outlive the Durable Object's memory. */
interface Facts extends GenerationNumber {
  /** The container that runs has been given its data: only then is anything of it worth a copy. */
  restored: boolean;
  /** Time in milliseconds since the epoch. */
  restoredAt?: number;
  /** Of the state, when the newest copy was begun; absent where none was made since the start. */
  revision?: string | undefined;
  /** Amount that the container began with, or the newest copy holds. */
  counts?: GenerationManifest["counts"] | undefined;
  /** ISO 8601: when the newest copy was made. */
  lastAt?: string | undefined;
  problem?: Reason | undefined;
  /** A recovery, with the sum of the config that it has put in place. */
  recovered?: (RecoveredConfig & { sha256: string | null }) | undefined;
  /** The start, by its time, in which one was tried. */
  recoveryOf?: string | undefined;
  seen: Seen;
}

const NOTHING: Facts = { restored: false, epoch: 0, sequence: 0, seen: {} };

/** The Durable Object's own note about the copies. Written by this class only. */
export class BackupRecord {
  readonly #notes: ContainerMemory;
  /** As written: it is asked for with every event. */
  #facts: Facts | undefined;

  constructor(notes: ContainerMemory) {
    this.#notes = notes;
  }

  /** Returns what is noted. */
  get facts(): Readonly<Facts> {
    this.#facts ??= { ...NOTHING, ...(JSON.parse(this.#notes.read(NOTE) ?? "{}") as Partial<Facts>) };
    return this.#facts;
  }

  /** Changes some of it. */
  note(changes: Partial<Facts>): void {
    const facts = { ...this.facts, ...changes };
    this.#notes.write(NOTE, JSON.stringify(facts));
    this.#facts = facts;
  }

  /** A container's run begins: the epoch moves past every one that the bucket holds. */
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
