import type { TenantId } from "../../contract/tenant.ts";
import type { Log } from "../../shared/log.ts";
import type { Clock } from "../ports.ts";
import type { TenantReport } from "./ports.ts";

const MINUTE_MS = 60_000;

/** Dependencies of {@link TenantReporter}. */
interface TenantReporterOptions {
  tenant: TenantId;
  read(): Promise<TenantReport>;
  send(tenant: TenantId, report: TenantReport): Promise<void>;
  clock: Clock;
  log: Log;
}

/** Reports a tenant to the directory: its use once a minute, and at once that its container has started or ended. */
export class TenantReporter {
  readonly #options: TenantReporterOptions;
  /** A new object does not know what the last one has reported. */
  #changed = true;
  #sentAt = Number.NEGATIVE_INFINITY;

  constructor(options: TenantReporterOptions) {
    this.#options = options;
  }

  /** Something has happened that a report may show. */
  touch(): void {
    this.#changed = true;
  }

  /** The container has started or ended. Reported at once: the directory sends a changed config to those that run. */
  runChanged(): void {
    this.#changed = true;
    this.#sentAt = Number.NEGATIVE_INFINITY;
  }

  /** Time of the next report, in milliseconds since the epoch; `undefined` if there is nothing to report. */
  dueAt(now: number): number | undefined {
    return this.#changed ? Math.max(this.#sentAt + MINUTE_MS, now) : undefined;
  }

  /** Reports. Never rejects: a report that is lost is followed by the next one. */
  async report(): Promise<void> {
    const { tenant, read, send, clock, log } = this.#options;
    this.#changed = false;
    this.#sentAt = clock();
    try {
      await send(tenant, await read());
    } catch (error) {
      this.#changed = true;
      log.warn("the directory was not told how the tenant is", { error: String(error) });
    }
  }
}
