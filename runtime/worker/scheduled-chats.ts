import type { TenantId } from "../contract/tenant.ts";
import type { Clock, Notes } from "../edge/ports.ts";
import type { Log } from "../shared/log.ts";
import { Backoff } from "./alarm.ts";

const NOTE = "scheduledChats";
const DUE = "due";
const RETRY = { firstMs: 10_000, longestMs: 30 * 60_000 };

interface ScheduledChatsOptions {
  notes: Notes;
  find(): Promise<TenantId[]>;
  /**
   * Starts a chat's sandbox, so that the sandbox reports the due time of its next schedule. Rejects if the sandbox
   * does not become ready.
   */
  begin(tenant: TenantId): Promise<void>;
  clock: Clock;
  log: Log;
}

/**
 * Starts sandboxes so that their chats' schedules run. Needed for chats that have had no message since they got a
 * sandbox, and for new schedules in the config.
 */
export class ScheduledChats {
  readonly #options: ScheduledChatsOptions;
  readonly #again = new Backoff(RETRY);
  #isRunning = false;

  constructor(options: ScheduledChatsOptions) {
    this.#options = options;
  }

  changed(): void {
    this.#options.notes.write(NOTE, DUE);
  }

  /** Time to call `run`, in milliseconds since the epoch; 0 for immediately, `undefined` if no call is needed. */
  get dueAt(): number | undefined {
    return this.#options.notes.read(NOTE) === DUE && !this.#isRunning ? this.#again.at : undefined;
  }

  /** Never rejects; failures are retried. */
  async run(): Promise<void> {
    const { notes, find, begin, clock, log } = this.#options;
    if (this.#isRunning) return;
    this.#isRunning = true;
    // Reset the note before `find`, so that a change during the search causes another run.
    notes.write(NOTE, "");
    try {
      const failed: unknown[] = [];
      for (const tenant of await find())
        await begin(tenant).catch((error: unknown) => void failed.push(`${tenant}: ${String(error)}`));
      if (failed.length > 0) throw new Error(failed.join("; "));
      this.#again.recovered();
    } catch (error) {
      notes.write(NOTE, DUE);
      this.#again.failed(clock());
      log.warn("the schedules of some chats could not be started yet", { error: String(error) });
    } finally {
      this.#isRunning = false;
    }
  }
}
