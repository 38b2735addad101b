import type { Renewal, TenantId } from "../../contract/tenant.ts";
import type { Sql } from "../ledger/sql.ts";
import type { Clock } from "../ports.ts";
import type { RenewalOutcome } from "./ports.ts";

/** Interval in which the renewed containers are asked at most once, however many wait for their turn. */
const LOOK_AGAIN_MS = 5_000;

/** Dependencies of {@link Waves}. */
interface WavesOptions {
  sql: Sql;
  /** The deployment's version. */
  version: string;
  /** Tenants that come first. */
  canaries: readonly TenantId[];
  /** Returns true for a chat that was let in: another one has no container that could show anything. */
  knows(tenant: TenantId): boolean;
  /** Returns false for a tenant that has reported a problem. */
  isWell(tenant: TenantId): boolean;
  /** Starts a tenant's container if it sleeps, and returns what has become of it. */
  look(tenant: TenantId): Promise<RenewalOutcome>;
  clock: Clock;
}

/**
 * Decides whose running container is replaced after an update. The canaries come first; when all of them answer, one more
 * container follows, then two, four and so on, each wave when the last one answers. While one fails, nobody follows.
 */
export class Waves {
  readonly #options: WavesOptions;
  readonly #failing = new Set<TenantId>();
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> = Promise.resolve();

  constructor(options: WavesOptions) {
    this.#options = options;
    const { sql, version } = options;
    sql.all(
      `CREATE TABLE IF NOT EXISTS tenant_renewals (
         tenant TEXT PRIMARY KEY, version TEXT NOT NULL, answers INTEGER NOT NULL DEFAULT 0
       ) WITHOUT ROWID`,
    );
    sql.all("DELETE FROM tenant_renewals WHERE version <> ?", version);
  }

  /** Returns true if a tenant's running container may be replaced now. The answer stays true until the next version. */
  async mayRenew(tenant: TenantId): Promise<boolean> {
    const canaries = this.#beginCanaries();
    // One that does not answer now cannot get worse, and shows nothing about the update.
    if (this.#answers(tenant) !== undefined || !this.#options.isWell(tenant)) return true;
    await this.look();
    if (this.#failing.size > 0 || canaries.some((one) => this.#answers(one) !== true)) return false;
    const { begun, answering } = this.progress();
    const isWaveOver = begun - canaries.length <= 2 * (answering - canaries.length);
    if (isWaveOver) this.#begin(tenant);
    return isWaveOver;
  }

  /** Asks the containers that were replaced and have not answered since. Starts those that sleep. */
  look(): Promise<void> {
    const { clock } = this.#options;
    this.#beginCanaries();
    if (clock() - this.#lookedAt < LOOK_AGAIN_MS) return this.#looking;
    this.#lookedAt = clock();
    this.#looking = this.#lookAtAll();
    return this.#looking;
  }

  /** Returns the progress of the update. It is as old as the last look. */
  progress(): Renewal {
    const [row = {}] = this.#options.sql.all(
      "SELECT count(*) AS begun, coalesce(sum(answers), 0) AS answering FROM tenant_renewals",
    );
    return {
      begun: Number(row["begun"]),
      answering: Number(row["answering"]),
      failing: [...this.#failing].sort(),
    };
  }

  async #lookAtAll(): Promise<void> {
    const { sql, look } = this.#options;
    const open = sql
      .all("SELECT tenant FROM tenant_renewals WHERE answers = 0")
      .map(({ tenant }) => String(tenant));
    await Promise.all(
      open.map(async (tenant) => {
        const renewed = await look(tenant).catch((): RenewalOutcome => "starts");
        if (renewed === "fails") this.#failing.add(tenant);
        else this.#failing.delete(tenant);
        if (renewed === "answers") sql.all("UPDATE tenant_renewals SET answers = 1 WHERE tenant = ?", tenant);
      }),
    );
  }

  #beginCanaries(): TenantId[] {
    const { canaries, knows } = this.#options;
    const known = canaries.filter((one) => knows(one));
    for (const canary of known) this.#begin(canary);
    return known;
  }

  #begin(tenant: TenantId): void {
    const { sql, version } = this.#options;
    sql.all(
      "INSERT INTO tenant_renewals (tenant, version) VALUES (?, ?) ON CONFLICT DO NOTHING",
      tenant,
      version,
    );
  }

  /** `undefined` for a tenant whose container may not be replaced yet. */
  #answers(tenant: TenantId): boolean | undefined {
    const [row] = this.#options.sql.all("SELECT answers FROM tenant_renewals WHERE tenant = ?", tenant);
    return row && row["answers"] === 1;
  }
}
