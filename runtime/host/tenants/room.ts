import type { TenantId } from "../../contract/tenant.ts";
import type { Log } from "../../shared/log.ts";
import type { TenantGateway } from "./gateway.ts";

/** Dependencies of {@link Room}. */
interface RoomOptions {
  /** Number of gateways that may run at the same time. */
  most: number;
  gateways(): Iterable<TenantGateway>;
  log: Log;
}

/** Room for the chats' gateways. Starts and stops follow each other, so that never more run than may. */
export class Room {
  readonly #options: RoomOptions;
  #turn: Promise<unknown> = Promise.resolve();
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
   * @returns false if there is no room
   */
  take(wanting: TenantId, start: () => void): Promise<boolean> {
    const done = this.#turn.then(() => this.#take(wanting, start));
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #take(wanting: TenantId, start: () => void): Promise<boolean> {
    if (this.#isClosed) return false;
    const { gateways, most } = this.#options;
    const running = [...gateways()].filter(({ tenant, isRunning }) => isRunning && tenant !== wanting);
    if (running.length >= most) {
      const idle = running.filter(({ isBusy }) => !isBusy).sort((one, other) => one.usedAt - other.usedAt);
      if (!(await this.#stopFirst(idle))) return false;
    }
    start();
    return true;
  }

  async #stopFirst(gateways: readonly TenantGateway[]): Promise<boolean> {
    for (const gateway of gateways) {
      if (await this.stopIdle(gateway)) return true;
    }
    return false;
  }

  /** Stops a gateway unless it is in use, or soon will be. @returns true if it does not run any more */
  async stopIdle(gateway: TenantGateway): Promise<boolean> {
    if ((await gateway.schedule.poll()) || gateway.isBusy) return false;
    this.#options.log.info("an idle gateway is stopped", { tenant: gateway.tenant });
    await gateway.stop();
    return true;
  }
}
