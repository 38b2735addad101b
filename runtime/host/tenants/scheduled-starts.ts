import type { TenantId } from "../../contract/tenant.ts";
import type { Clock, Notes } from "../../edge/ports.ts";
import { backoffMs } from "../../shared/backoff.ts";
import type { Log } from "../../shared/log.ts";

/** Name of a chat's note: the mark for which it was started. */
const NOTE = "scheduledFor";
const RETRY = { firstMs: 10_000, longestMs: 30 * 60_000 };

/** Dependencies of {@link ScheduledStarts}. */
interface ScheduledStartsOptions {
  /** Returns a text that changes when other chats may have schedules: with the tenancy, and with the config. */
  mark(): string;
  notes(tenant: TenantId): Notes;
  /** Returns the chats that have a schedule in the state that served every chat, or in the config. */
  find(): Promise<readonly TenantId[]>;
  /** Starts a chat's gateway once, and notes when its next schedule is due. Rejects if it does not get ready. */
  begin(tenant: TenantId): Promise<void>;
  clock: Clock;
  log: Log;
}

/**
 * Starts each chat once that has a schedule, also one that has not written since each chat has its own gateway: nothing else
 * would start those.
 */
export class ScheduledStarts {
  readonly #options: ScheduledStartsOptions;
  #doneFor: string | undefined;
  #failures = 0;
  #againAt = 0;
  #isRunning = false;

  constructor(options: ScheduledStartsOptions) {
    this.#options = options;
  }

  /** Starts the chats that are due, one after another. Never rejects: what fails is tried again by a later call. */
  async run(): Promise<void> {
    const { mark, find, clock, log } = this.#options;
    const wanted = mark();
    if (this.#isRunning || wanted === this.#doneFor || clock() < this.#againAt) return;
    this.#isRunning = true;
    try {
      const failed: string[] = [];
      for (const tenant of await find())
        await this.#begin(tenant, wanted).catch((error: unknown) =>
          failed.push(`${tenant}: ${String(error)}`),
        );
      if (failed.length > 0) throw new Error(failed.join("; "));
      this.#doneFor = wanted;
      [this.#failures, this.#againAt] = [0, 0];
    } catch (error) {
      this.#failures += 1;
      this.#againAt = clock() + backoffMs(RETRY, this.#failures);
      log.warn("the schedules of some chats are not seen to yet", { error: String(error) });
    } finally {
      this.#isRunning = false;
    }
  }

  async #begin(tenant: TenantId, mark: string): Promise<void> {
    const notes = this.#options.notes(tenant);
    if (notes.read(NOTE) === mark) return;
    await this.#options.begin(tenant);
    // Last: after a kill the chat is started again.
    notes.write(NOTE, mark);
  }
}
