import { rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { reason, type Reason } from "../contract/errors.ts";
import type { Timers } from "./timers.ts";

/** Interval between checks in milliseconds, and thus the maximum age of the result. */
const EVERY_MS = 10_000;
/** Size in bytes of the file that is written to test for free space. A message and its answer fit in this space. */
const NEEDED_BYTES = 64 * 1024;
const FILE = ".volume-check";
const FULL: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT"]);

interface VolumeOptions {
  timers: Timers;
  /**
   * Returns the reason why the ledger cannot be written; `undefined` if it is writable. Absent in a process without a
   * ledger.
   */
  ledgerProblem?: (() => Reason | undefined) | undefined;
  /** Called when writing begins to fail and when it works again. */
  onChange(): void;
}

/** Checks at intervals that the data directory and its ledger are writable, by writing to them. */
export class VolumeWatch {
  readonly #home: string;
  readonly #options: VolumeOptions;
  #reason: Reason | undefined;
  /** Cancels the next check; absent during a check and while stopped. */
  #cancel: (() => void) | undefined;
  #isLooking = false;
  #isStopped = true;

  constructor(home: string, options: VolumeOptions) {
    this.#home = home;
    this.#options = options;
  }

  /** `undefined` while the volume is writable. */
  get reason(): Reason | undefined {
    return this.#reason;
  }

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

  /** Checks the volume immediately, unless a check is in progress or the watch is stopped. */
  check(): void {
    if (!this.#isStopped && !this.#isLooking) void this.#look();
  }

  async #look(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#isLooking = true;
    const unwritable = await writeProblem(this.#home);
    this.#isLooking = false;
    if (this.#isStopped) return;
    const { timers, ledgerProblem, onChange } = this.#options;
    const found = unwritable ?? ledgerProblem?.();
    const isChange = found?.code !== this.#reason?.code;
    this.#reason = found;
    if (isChange) onChange();
    this.#cancel = timers.after(EVERY_MS, () => void this.#look());
  }
}

async function writeProblem(home: string): Promise<Reason | undefined> {
  const path = join(home, FILE);
  try {
    await writeFile(path, Buffer.alloc(NEEDED_BYTES), { flush: true });
    return undefined;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    if (FULL.has(code)) return reason("disk_full", await fullText(home));
    return reason("data_directory_unwritable", `The data directory cannot be written: ${code}.`);
  } finally {
    await rm(path, { force: true }).catch(() => undefined);
  }
}

async function fullText(home: string): Promise<string> {
  const { bavail, bsize } = await statfs(home);
  const kib = (bytes: number): number => Math.floor(bytes / 1_024);
  return `The data directory's disk is full: ${kib(bavail * bsize)} KiB are free, and ${kib(NEEDED_BYTES)} KiB are needed.`;
}
