import type { TenantId } from "../../contract/tenant.ts";
import type { Log } from "../../shared/log.ts";
import type { TenantGateway } from "./gateway.ts";

/** Dependencies of {@link GatewayPool}. */
interface RoomOptions {
  /** Number of gateways that may run at the same time. */
  most: number;
  gateways(): Iterable<Occupant>;
  /** Starts the gateway of a chat that has waited, for what waits in it. @returns false if there is still no room */
  begin(tenant: TenantId): Promise<boolean>;
  log: Log;
}

/** The parts of a gateway that decide about room. */
type Occupant = Pick<TenantGateway, "tenant" | "isRunning" | "isBusy" | "usedAt" | "stop"> & {
  schedule: Pick<TenantGateway["schedule"], "poll">;
};

/** Room for the chats' gateways. Starts and stops follow each other, so that never more run than may. */
export class GatewayPool {
  readonly #options: RoomOptions;
  #turn: Promise<unknown> = Promise.resolve();
  /** Chats that found no room, the one that has waited longest first. */
  readonly #waiting = new Set<TenantId>();
  #isOffering = false;
  #isClosed = false;

  constructor(options: RoomOptions) {
    this.#options = options;
  }

  /** Lets no gateway start any more. */
  close(): void {
    this.#isClosed = true;
  }

  /**
   * Starts a gateway, after it has stopped the one that was used longest ago if as many run as may.
   *
   * @returns false if there is no room, or others have waited longer for it
   */
  take(wanting: TenantId, start: () => void): Promise<boolean> {
    const done = this.#turn.then(() => this.#take(wanting, start));
    this.#turn = done.catch(() => undefined);
    return done;
  }

  /** Room may have been made: starts the chats that wait for it, the one that has waited longest first. Never rejects. */
  async offer(): Promise<void> {
    if (this.#isOffering) return;
    this.#isOffering = true;
    try {
      for (const tenant of this.#waiting) if (!(await this.#begin(tenant))) break;
    } finally {
      this.#isOffering = false;
    }
  }

  /** @returns false if there is no room */
  async #begin(tenant: TenantId): Promise<boolean> {
    const { begin, log } = this.#options;
    const hasRoom = await begin(tenant).catch((error: unknown) => {
      log.warn("a chat that has waited for room does not start", { tenant, error: String(error) });
      return true;
    });
    // One that cannot start must not keep the others waiting; its messages are tried again.
    if (hasRoom) this.#waiting.delete(tenant);
    return hasRoom;
  }

  async #take(wanting: TenantId, start: () => void): Promise<boolean> {
    if (this.#isClosed) return false;
    if (!(await this.#hasRoom(wanting))) {
      this.#waiting.add(wanting);
      return false;
    }
    this.#waiting.delete(wanting);
    start();
    return true;
  }

  async #hasRoom(wanting: TenantId): Promise<boolean> {
    const { gateways, most } = this.#options;
    const running = [...gateways()].filter(({ tenant, isRunning }) => isRunning && tenant !== wanting);
    const waiting = [...this.#waiting];
    const ahead = waiting.includes(wanting) ? waiting.indexOf(wanting) : waiting.length;
    if (running.length + ahead < most) return true;
    if (ahead > 0) return false;
    const idle = running.filter(({ isBusy }) => !isBusy).sort((one, other) => one.usedAt - other.usedAt);
    return this.#stopFirst(idle);
  }

  async #stopFirst(gateways: readonly Occupant[]): Promise<boolean> {
    for (const gateway of gateways) {
      if (await this.stopIdle(gateway)) return true;
    }
    return false;
  }

  /** Stops a gateway unless it is in use, or soon will be. @returns true if it does not run any more */
  async stopIdle(gateway: Occupant): Promise<boolean> {
    if ((await gateway.schedule.poll()) || gateway.isBusy) return false;
    this.#options.log.info("an idle gateway is stopped", { tenant: gateway.tenant });
    await gateway.stop();
    return true;
  }
}
