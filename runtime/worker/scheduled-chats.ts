import type { TenantId } from "../contract/tenant.ts";
import type { Clock, Notes } from "../edge/ports.ts";
import type { Log } from "../shared/log.ts";
import { Backoff } from "./alarm.ts";

const NOTE = "scheduledChats";
const DUE = "due";
const RETRY = { firstMs: 10_000, longestMs: 30 * 60_000 };

/** Dependencies of {@link ScheduledChats}. */
interface ScheduledChatsOptions {
  notes: Notes;
  /** Returns the chats that have a schedule in the state or the config of the deployment. */
  find(): Promise<TenantId[]>;
  /** Starts a chat's sandbox once, which then knows when its next schedule is due. Rejects if it does not get ready. */
  begin(tenant: TenantId): Promise<void>;
  clock: Clock;
  log: Log;
}

/**
 * Sees to the schedules of chats that have not written since each chat has its own sandbox, or whose schedule is new in the
 * config: nothing else would start their sandboxes.
 */
export class ScheduledChats {
  readonly #options: ScheduledChatsOptions;
  readonly #again = new Backoff(RETRY);
  #isRunning = false;

  constructor(options: ScheduledChatsOptions) {
    this.#options = options;
  }

  /** The tenancy or the config has changed. */
  changed(): void {
    this.#options.notes.write(NOTE, DUE);
  }

  /** Time of the next attempt, in milliseconds since the epoch; `undefined` if there is nothing to do. */
  get dueAt(): number | undefined {
    return this.#options.notes.read(NOTE) === DUE && !this.#isRunning ? this.#again.at : undefined;
  }

  /** Starts the chats' sandboxes, one after another. Never rejects: what fails is tried again. */
  async run(): Promise<void> {
    const { notes, find, begin, clock, log } = this.#options;
    if (this.#isRunning) return;
    this.#isRunning = true;
    // Before the search, which may miss what changes meanwhile.
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
      log.warn("the schedules of some chats are not seen to yet", { error: String(error) });
    } finally {
      this.#isRunning = false;
    }
  }
}
