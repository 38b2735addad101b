import type { TenantId } from "../../contract/tenant.ts";
import type { Log } from "../../shared/log.ts";
import type { TenantGateway } from "./gateway.ts";

interface RoomOptions {
  most: number;
  gateways(): Iterable<Occupant>;
  /**
   * Starts the gateway of a waiting chat.
   *
   * @returns false if there is still no room
   */
  begin(tenant: TenantId): Promise<boolean>;
  log: Log;
}

type Occupant = Pick<TenantGateway, "tenant" | "isRunning" | "isBusy" | "usedAt" | "stop"> & {
  schedule: Pick<TenantGateway["schedule"], "poll">;
};

/**
 * Limits how many chats' gateways run concurrently. Starts and stops are serialized, so that the limit is never
 * exceeded.
 */
export class GatewayPool {
  readonly #options: RoomOptions;
  #turn: Promise<unknown> = Promise.resolve();
  /** Chats that wait for room, longest wait first. */
  readonly #waiting = new Set<TenantId>();
  #isOffering = false;
  #isClosed = false;

  constructor(options: RoomOptions) {
    this.#options = options;
  }

  close(): void {
    this.#isClosed = true;
  }

  /**
   * Starts a gateway. If the limit is reached, first stops the least recently used idle gateway.
   *
   * @returns false if there is no room or other chats have waited longer
   */
  take(wanting: TenantId, start: () => void): Promise<boolean> {
    const done = this.#turn.then(() => this.#startIfRoom(wanting, start));
    this.#turn = done.catch(() => undefined);
    return done;
  }

  /** Starts the gateways of waiting chats, longest wait first, while there is room. Never rejects. */
  async offer(): Promise<void> {
    if (this.#isOffering) return;
    this.#isOffering = true;
    try {
      for (const tenant of this.#waiting) if (!(await this.#begin(tenant))) break;
    } finally {
      this.#isOffering = false;
    }
  }

  async #begin(tenant: TenantId): Promise<boolean> {
    const { begin, log } = this.#options;
    const hasRoom = await begin(tenant).catch((error: unknown) => {
      log.warn("a chat that waited for room could not be started", { tenant, error: String(error) });
      return true;
    });
    // Remove even a chat that failed to start, so that it does not block the chats behind it.
    if (hasRoom) this.#waiting.delete(tenant);
    return hasRoom;
  }

  async #startIfRoom(wanting: TenantId, start: () => void): Promise<boolean> {
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

  /**
   * Stops a gateway unless it is in use or has a schedule that is due soon.
   *
   * @returns true if it has stopped
   */
  async stopIdle(gateway: Occupant): Promise<boolean> {
    if ((await gateway.schedule.poll()) || gateway.isBusy) return false;
    this.#options.log.info("an idle gateway is stopped", { tenant: gateway.tenant });
    await gateway.stop();
    return true;
  }
}
