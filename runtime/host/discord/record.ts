import { IntakeLease, type LeaseOptions } from "../intake/lease.ts";
import type { Session } from "./protocol.ts";

/** One bot's row: the lease, and its session with the place in the session's events. */
export class SessionRecord extends IntakeLease {
  constructor(options: LeaseOptions) {
    super("discord", options);
  }

  /** Returns the session that a connection can resume. */
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

  /** A session has begun. */
  began({ id, url, user, sequence }: Session): void {
    this.heard({ session: id, resume_url: url, user, sequence });
  }

  /** Discord has answered, and every event up to this number is in the ledger or needs no record. */
  answered(sequence: number): void {
    this.heard({ sequence });
  }

  /** The session is over: the next connection begins another one. */
  forget(): void {
    this.change({ session: null, resume_url: null, sequence: null });
  }
}
