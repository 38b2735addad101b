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

/** Reports a tenant to the directory, at most once a minute and only if it has been in use. */
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
