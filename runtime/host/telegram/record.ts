import { IntakeLease, type LeaseOptions } from "../intake/lease.ts";

/**
 * Milliseconds for which a stored offset stays valid. After a week without updates, Telegram continues at a random
 * id, so an older offset could confirm unread updates: https://core.telegram.org/bots/api#update
 */
const OFFSET_KEEPS_MS = 6 * 24 * 3_600_000;

/** One bot's database row: the lease, and the position in the updates. */
export class IntakeRecord extends IntakeLease {
  constructor(options: LeaseOptions) {
    super("telegram", options);
  }

  /** Returns the offset to continue at; `undefined` lets Telegram decide. */
  offset(): number | undefined {
    const { next_offset: offset, last_update_at: at } = this.row("next_offset", "last_update_at");
    if (typeof offset !== "number" || typeof at !== "number") return undefined;
    return this.clock() - at > OFFSET_KEEPS_MS ? undefined : offset;
  }

  /**
   * Records a response from Telegram. `nextOffset` is set if updates arrived; the ledger has already stored all
   * updates with lower ids.
   */
  answered(nextOffset?: number): void {
    const place = nextOffset === undefined ? {} : { next_offset: nextOffset, last_update_at: this.clock() };
    this.heard(place);
  }
}
