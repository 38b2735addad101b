import type { ModelHealth } from "../../contract/control.ts";
import { reason, type ErrorCode, type Reason } from "../../contract/errors.ts";
import { ModelTrouble, type ModelRefusal } from "./model.ts";

/** Longest pause after a failure that only a person can mend, who should not have to wait for it then. */
const LONGEST_REFUSAL_REST_MS = 60_000;
/** Longer waits are not slept through: the next model is asked, or the edge keeps the message. */
export const LONGEST_WAIT_MS = 2_000;
const REFUSED: ReadonlySet<ErrorCode> = new Set([
  "model_key_invalid",
  "model_not_available",
  "model_quota_exhausted",
]);

/** Tells whether a refusal is about the model, so that another one may well answer. */
export function concernsModel({ code }: ModelRefusal): boolean {
  return REFUSED.has(code);
}

/**
 * Availability of a model. `resting`: it failed a short while ago, so it comes last, but nobody
 * knows whether it would fail again: where no other is left, it is asked, once. `closed`: the provider
 * said until when it will not answer.
 */
export type Availability = "open" | "resting" | "closed";

/** State of one model. Times are in milliseconds since the epoch. */
export class ModelState {
  #answers = false;
  #failure: Reason | undefined;
  #until = 0;
  #closed = false;
  #changedAt = 0;

  /** Until when it is left alone; in the past where it is not. */
  get until(): number {
    return this.#until;
  }

  /** Why it failed last, where it did. */
  get failure(): Reason | undefined {
    return this.#failure;
  }

  availability(now: number): Availability {
    if (this.#until <= now) return "open";
    return this.#closed ? "closed" : "resting";
  }

  /** It answered a question that was asked at `askedAt`. What failed since counts more. */
  answered(askedAt: number, now: number): void {
    if (this.#failure !== undefined && this.#changedAt > askedAt) return;
    this.#changedAt = now;
    this.#recover();
  }

  /** It failed and is left alone: as long as it asked for, else for `restMs`. */
  failed(error: ModelTrouble | ModelRefusal, now: number, restMs: number): void {
    this.#changedAt = now;
    this.#failure = error.reason;
    const wait = error instanceof ModelTrouble ? (error.retryAfterMs ?? 0) : 0;
    this.#closed = wait > LONGEST_WAIT_MS;
    if (this.#closed) this.#until = now + wait;
    else this.#until = now + (REFUSED.has(error.code) ? Math.min(LONGEST_REFUSAL_REST_MS, restMs) : restMs);
  }

  /**
   * Returns what the provider said of the model without a question, asked at `askedAt`; what a question came to
   * since counts more. A good word ends a refusal, which a person has mended then; it says nothing of a
   * rate limit or an overload. A bad one is only shown: the provider's list may be wrong.
   */
  probed(problem: { code: ErrorCode; detail: string } | undefined, askedAt: number): void {
    if (this.#changedAt >= askedAt) return;
    const open = this.availability(askedAt) === "open";
    if (problem !== undefined && open) this.#failure = reason(problem.code, problem.detail);
    const mended = open || (this.#failure !== undefined && REFUSED.has(this.#failure.code));
    if (problem === undefined && mended) this.#recover();
  }

  #recover(): void {
    this.#answers = true;
    this.#failure = undefined;
    this.#until = 0;
  }

  health(id: string, now: number): ModelHealth {
    if (this.#failure === undefined) return { id, state: this.#answers ? "ready" : "unknown" };
    const rests = this.#until > now && Number.isFinite(this.#until);
    return {
      id,
      state: rests && !REFUSED.has(this.#failure.code) ? "cooling" : "failing",
      reason: this.#failure,
      ...(rests && { until: new Date(this.#until).toISOString() }),
    };
  }
}
