import { IntakeLease, type LeaseOptions } from "../intake/lease.ts";
import type { Session } from "./protocol.ts";

/** One bot's database row: the lease, the session, and the number of the last event that was handled. */
export class SessionRecord extends IntakeLease {
  constructor(options: LeaseOptions) {
    super("discord", options);
  }

  session(): Session | undefined {
    const {
      session: id,
      resume_url: url,
      user,
      sequence,
    } = this.row("session", "resume_url", "user", "sequence");
    if (typeof id !== "string" || typeof url !== "string" || typeof user !== "string") return undefined;
    return typeof sequence === "number" ? { id, url, user, sequence } : undefined;
  }

  began({ id, url, user, sequence }: Session): void {
    this.heard({ session: id, resume_url: url, user, sequence });
  }

  /**
   * Records that Discord has responded and that events up to `sequence` are processed. Events that need a ledger
   * entry must already have one.
   */
  answered(sequence: number): void {
    this.heard({ sequence });
  }

  /** Records that the session is over, so that the next connection begins a new one. */
  forget(): void {
    this.change({ session: null, resume_url: null, sequence: null });
  }
}
