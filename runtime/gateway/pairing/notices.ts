import type { GrantedRole } from "../../contract/config/rights.ts";
import { APPROVED_TEXT } from "../../shared/channel-access.ts";
import { backoffMs } from "../../shared/backoff.ts";
import { waitAtMost } from "../../shared/timeout.ts";
import { platformSchema, type Platform } from "../../contract/delivery.ts";
import type { Log } from "../../shared/log.ts";
import type { Components } from "../components.ts";
import { RetryableError } from "../failure.ts";
import type { PairingStores } from "./store.ts";
import type { WaitingSender, WaitingSenders } from "./desk.ts";

const LOOK_EVERY_MS = 1_000;
const RETRY = { firstMs: 5_000, longestMs: 10 * 60_000 };
/**
 * Maximum number of attempts per notice. The delays double, so the last attempt is about 40 minutes after the first.
 */
const MAX_ATTEMPTS = 10;

export interface ApprovalNoticesOptions {
  parts(): Pick<Components, "channels">;
  stores: PairingStores;
  waiting: WaitingSenders;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/**
 * Notifies approved senders; after a crash, a sender may be notified twice. Polls the store every second while a
 * sender waits, because other processes write approvals.
 */
export class ApprovalNotices {
  readonly #options: ApprovalNoticesOptions;
  /** By platform and sender. */
  readonly #failed = new Map<string, { attempts: number; notBefore: number }>();
  #timer: NodeJS.Timeout | undefined;
  #looking = Promise.resolve();
  #isLooking = false;
  #stopped = false;

  constructor(options: ApprovalNoticesOptions) {
    this.#options = options;
  }

  /** Checks for approvals now, then every second while a sender waits. */
  start(): void {
    this.#timer = undefined;
    if (this.#isLooking) this.expect();
    else this.#looking = this.#runCheck();
  }

  expect(): void {
    if (!this.#stopped) this.#timer ??= setTimeout(() => this.start(), LOOK_EVERY_MS);
  }

  /** Stops checking. Waits at most `graceMs` for a notice in progress. */
  async stop(graceMs: number): Promise<void> {
    clearTimeout(this.#timer);
    this.#stopped = true;
    await waitAtMost(graceMs, this.#looking);
  }

  async #runCheck(): Promise<void> {
    this.#isLooking = true;
    try {
      if (await this.#checkAll()) this.expect();
    } finally {
      this.#isLooking = false;
    }
  }

  // Checks the platforms in parallel, so that a hanging platform does not delay the others.
  async #checkAll(): Promise<boolean> {
    const waits = await Promise.all(platformSchema.options.map((platform) => this.#checkPlatform(platform)));
    return waits.includes(true);
  }

  /**
   * Notifies each waiting sender on `platform` whose request has been approved. Returns true if the platform must be
   * checked again.
   */
  async #checkPlatform(platform: Platform): Promise<boolean> {
    const { stores, waiting, log } = this.#options;
    try {
      const senders = waiting.on(platform);
      if (senders.length === 0) return false;
      // An approval is stored before its request is removed. Read in the opposite order, so that no approval is
      // missed.
      const pending = new Set(
        stores(platform)
          .pending()
          .map(({ id }) => id),
      );
      const approved = new Set(stores(platform).approved());
      for (const sender of senders) {
        if (approved.has(sender.sender))
          await this.#tell(sender, stores(platform).granted(sender.sender) ?? "person");
        else if (!pending.has(sender.sender)) waiting.remove(sender);
      }
      return waiting.on(platform).length > 0;
    } catch (error) {
      log.error("approvals could not be read", { platform, error: String(error) });
      return true;
    }
  }

  async #tell(waitingSender: WaitingSender, role: GrantedRole): Promise<void> {
    const { parts, waiting, clock, log } = this.#options;
    const { platform, sender, target } = waitingSender;
    const channel = parts().channels.get(platform);
    const key = `${platform} ${sender}`;
    const failed = this.#failed.get(key) ?? { attempts: 0, notBefore: 0 };
    if (channel === undefined || this.#stopped || clock() < failed.notBefore) return;
    try {
      await channel.send(target, APPROVED_TEXT[role]);
      waiting.remove(waitingSender);
      // Log last, because the entry means that the notice will not be repeated.
      log.info("a sender was notified of its approval", { platform, sender });
    } catch (error) {
      const attempts = failed.attempts + 1;
      if (attempts < MAX_ATTEMPTS) {
        const asked = error instanceof RetryableError ? (error.retryAfterMs ?? 0) : 0;
        const wait = Math.max(asked, backoffMs(RETRY, attempts));
        this.#failed.set(key, { attempts, notBefore: clock() + wait });
        return;
      }
      log.error("a sender could not be notified of its approval", { platform, sender, error: String(error) });
      waiting.remove(waitingSender);
    }
    this.#failed.delete(key);
  }
}
