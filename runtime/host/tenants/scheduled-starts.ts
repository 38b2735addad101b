import type { TenantId } from "../../contract/tenant.ts";
import type { Clock, Notes } from "../../edge/ports.ts";
import { backoffMs } from "../../shared/backoff.ts";
import type { Log } from "../../shared/log.ts";

/** Name of the note that stores the {@link ScheduledStartsOptions.mark} value used for a chat's last start. */
const NOTE = "scheduledFor";
const RETRY = { firstMs: 10_000, longestMs: 30 * 60_000 };

interface ScheduledStartsOptions {
  /** Returns a string that changes whenever the tenancy or config does. */
  mark(): string;
  notes(tenant: TenantId): Notes;
  find(): Promise<readonly TenantId[]>;
  /**
   * Starts a chat's gateway and stores when the chat's next schedule is due. Rejects if the gateway does not become
   * ready.
   */
  begin(tenant: TenantId): Promise<void>;
  clock: Clock;
  log: Log;
}

/**
 * After every change to the tenancy or config, starts the gateway of each chat that has schedules. Otherwise, a
 * chat's gateway would start only at the chat's next message.
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

  /** Never rejects; a later call retries failures. */
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
      log.warn("the schedules of some chats could not be started yet", { error: String(error) });
    } finally {
      this.#isRunning = false;
    }
  }

  async #begin(tenant: TenantId, mark: string): Promise<void> {
    const notes = this.#options.notes(tenant);
    if (notes.read(NOTE) === mark) return;
    await this.#options.begin(tenant);
    // Write the mark last, so that an interrupted start is repeated.
    notes.write(NOTE, mark);
  }
}
