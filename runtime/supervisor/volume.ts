import { rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ErrorCode, reason, type Reason } from "../contract/errors.ts";
import type { Timers } from "./timers.ts";

/** Between two looks: what people are told of the volume is never older. */
const EVERY_MS = 10_000;
/** A message with a picture's description, its answer, and what SQLite writes beside them. */
const NEEDED_BYTES = 64 * 1024;
const FILE = ".volume-check";
/** Codes of Node's file system calls. */
const CODES: Record<string, ErrorCode> = {
  ENOSPC: "disk_full",
  EDQUOT: "disk_full",
  EROFS: "data_directory_unwritable",
  EACCES: "data_directory_unwritable",
  EPERM: "data_directory_unwritable",
};

/** Tells whether the data directory can be written, by writing to it. */
export class VolumeWatch {
  readonly #home: string;
  readonly #timers: Timers;
  readonly #onChange: () => void;
  #reason: Reason | undefined;
  /** Calls the next look off; absent during a look, and while stopped. */
  #cancel: (() => void) | undefined;
  #isLooking = false;
  #isStopped = true;

  /** @param onChange called when it can be written no more, or again */
  constructor(home: string, { timers, onChange }: { timers: Timers; onChange(): void }) {
    this.#home = home;
    this.#timers = timers;
    this.#onChange = onChange;
  }

  /** Why it cannot be written; `undefined` while it can. */
  get reason(): Reason | undefined {
    return this.#reason;
  }

  /** Looks now, and then at intervals. */
  start(): void {
    if (!this.#isStopped) return;
    this.#isStopped = false;
    this.check();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Looks at once: something could not be written. However many ask, one look is under way. */
  check(): void {
    if (!this.#isStopped && !this.#isLooking) void this.#look();
  }

  async #look(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#isLooking = true;
    const found = await whyNot(this.#home);
    this.#isLooking = false;
    if (this.#isStopped) return;
    const isChange = found?.code !== this.#reason?.code;
    this.#reason = found;
    if (isChange) this.#onChange();
    this.#cancel = this.#timers.after(EVERY_MS, () => void this.#look());
  }
}

async function whyNot(home: string): Promise<Reason | undefined> {
  const path = join(home, FILE);
  try {
    await writeFile(path, Buffer.alloc(NEEDED_BYTES), { flush: true });
    return undefined;
  } catch (error) {
    const code = CODES[error instanceof Error && "code" in error ? String(error.code) : ""];
    // Anything else, as a folder that is gone meanwhile, is not the volume's.
    if (code === undefined) return undefined;
    return code === "disk_full" ? reason(code, await fullText(home)) : reason(code);
  } finally {
    await rm(path, { force: true }).catch(() => undefined);
  }
}

async function fullText(home: string): Promise<string> {
  const { bavail, bsize } = await statfs(home);
  const kib = (bytes: number): number => Math.floor(bytes / 1_024);
  return `The data directory's disk is full: ${kib(bavail * bsize)} KiB are free, and ${kib(NEEDED_BYTES)} KiB are needed.`;
}
