import type { TenantId } from "../../contract/tenant.ts";
import type { Log } from "../../shared/log.ts";
import type { Clock } from "../ports.ts";
import type { TenantReport } from "./ports.ts";

const MINUTE_MS = 60_000;

interface TenantReporterOptions {
  tenant: TenantId;
  read(): Promise<TenantReport>;
  send(tenant: TenantId, report: TenantReport): Promise<void>;
  clock: Clock;
  log: Log;
}

/**
 * Reports changes of a tenant's status to the directory: immediately when its container starts or stops, otherwise at
 * most once a minute.
 */
export class TenantReporter {
  readonly #options: TenantReporterOptions;
  /** True at first, because a new instance does not know the last reported status. */
  #changed = true;
  #sentAt = Number.NEGATIVE_INFINITY;

  constructor(options: TenantReporterOptions) {
    this.#options = options;
  }

  touch(): void {
    this.#changed = true;
  }

  /** Makes a report due immediately. Call this when the container has started or stopped. */
  runChanged(): void {
    this.#changed = true;
    this.#sentAt = Number.NEGATIVE_INFINITY;
  }

  /** Returns the time of the next report, in milliseconds since the epoch; `undefined` if none is needed. */
  dueAt(now: number): number | undefined {
    return this.#changed ? Math.max(this.#sentAt + MINUTE_MS, now) : undefined;
  }

  /** Sends a report. Never rejects, because the next report replaces a lost one. */
  async report(): Promise<void> {
    const { tenant, read, send, clock, log } = this.#options;
    this.#changed = false;
    this.#sentAt = clock();
    try {
      await send(tenant, await read());
    } catch (error) {
      this.#changed = true;
      log.warn("the tenant's report could not be sent", { error: String(error) });
    }
  }
}
