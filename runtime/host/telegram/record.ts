import { IntakeLease, type LeaseOptions } from "../intake/lease.ts";

/**
 * After a week without updates Telegram begins with another, random id
 * (https://core.telegram.org/bots/api#update), which an offset from before would confirm unread.
 */
const OFFSET_KEEPS_MS = 6 * 24 * 3_600_000;

/** One bot's row: the lease, and the place in its updates. */
export class IntakeRecord extends IntakeLease {
  constructor(options: LeaseOptions) {
    super("telegram", options);
  }

  /** Returns the offset to continue at, `undefined` if Telegram decides. */
  offset(): number | undefined {
    const { next_offset: offset, last_update_at: at } = this.row("next_offset", "last_update_at");
    if (typeof offset !== "number" || typeof at !== "number") return undefined;
    return this.clock() - at > OFFSET_KEEPS_MS ? undefined : offset;
  }

  /** Telegram has answered. `nextOffset`: updates came, and every one below it is in the ledger. */
  answered(nextOffset?: number): void {
    const place = nextOffset === undefined ? {} : { next_offset: nextOffset, last_update_at: this.clock() };
    this.heard(place);
  }
}
