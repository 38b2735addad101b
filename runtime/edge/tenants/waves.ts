import type { Renewal, TenantId } from "../../contract/tenant.ts";
import type { Sql } from "../ledger/sql.ts";
import type { Clock } from "../ports.ts";
import type { RenewalOutcome } from "./ports.ts";

/** Minimum interval between checks of renewed containers. */
const LOOK_AGAIN_MS = 5_000;

interface WavesOptions {
  sql: Sql;
  version: string;
  /** Tenants to update first. */
  canaries: readonly TenantId[];
  knows(tenant: TenantId): boolean;
  isWell(tenant: TenantId): boolean;
  /**
   * Checks whether the tenant's container answers after its update. If the container sleeps, starts it and returns
   * `starts`.
   */
  look(tenant: TenantId): Promise<RenewalOutcome>;
  clock: Clock;
}

/**
 * Decides which running containers an update may replace: first the canaries, then waves that grow as replaced
 * containers respond. If a replaced container fails, the update stops.
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

  /** Returns true if a tenant's container may be replaced now. The permission lasts until the next version. */
  async mayRenew(tenant: TenantId): Promise<boolean> {
    const canaries = this.#beginCanaries();
    // A failing tenant may always be updated: it cannot get worse.
    if (this.#hasAnswered(tenant) !== undefined || !this.#options.isWell(tenant)) return true;
    await this.look();
    if (this.#failing.size > 0 || canaries.some((one) => this.#hasAnswered(one) !== true)) return false;
    const { begun, answering } = this.progress();
    const isWaveOver = begun - canaries.length <= 2 * (answering - canaries.length);
    if (isWaveOver) this.#begin(tenant);
    return isWaveOver;
  }

  /** Polls the updated containers that have not answered yet. */
  look(): Promise<void> {
    const { clock } = this.#options;
    this.#beginCanaries();
    if (clock() - this.#lookedAt < LOOK_AGAIN_MS) return this.#looking;
    this.#lookedAt = clock();
    this.#looking = this.#pollAll();
    return this.#looking;
  }

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

  async #pollAll(): Promise<void> {
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

  /**
   * Returns `undefined` if the tenant's container must not be replaced yet; otherwise, whether the new container has
   * answered.
   */
  #hasAnswered(tenant: TenantId): boolean | undefined {
    const [row] = this.#options.sql.all("SELECT answers FROM tenant_renewals WHERE tenant = ?", tenant);
    return row && row["answers"] === 1;
  }
}
