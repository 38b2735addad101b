import type { ModelHealth } from "../../contract/control.ts";
import { type ErrorCode, reason, type Reason } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import { RetryableError } from "../failure.ts";
import { ModelRefusal, ModelTrouble, type Model, type ModelAnswer, type ModelRequest } from "./model.ts";
import type { UsageStore } from "./usage.ts";

const ATTEMPTS = 3;
const SHORTEST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 1_000;

export interface RelayedModel {
  /** `<provider>/<model id>` */
  id: string;
  model: Model;
}

export interface RelayOptions {
  /** In order of preference. */
  models: readonly [RelayedModel, ...RelayedModel[]];
  /** Milliseconds that a model rests after a failure, unless its provider requests a different duration. */
  cooldownMs: number;
  usage: UsageStore;
  /** Milliseconds since the epoch. */
  clock(): number;
  /** Rejects if the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<unknown>;
  /** Between 0 and 1, for the jitter. */
  random(): number;
  log: Log;
}

interface Entry extends RelayedModel {
  standing: ModelState;
}

type Failures = Map<Entry, ModelTrouble | ModelRefusal>;

/**
 * Relay that combines several models. If a failure may pass within seconds, the relay tries the same model again,
 * with at most three attempts in total. If all attempts fail, or after any other failure of the model, it tries the
 * next model. For a while, it then tries the failed model last or, if the provider requested a long wait, not at all.
 * If no model answers, the edge may retry later.
 */
export class ModelRelay implements Model {
  readonly #options: RelayOptions;
  readonly #entries: readonly Entry[];

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#entries = options.models.map((one) => ({ ...one, standing: new ModelState() }));
  }

  get primary(): string {
    return this.#options.models[0].id;
  }

  /** In order of preference. */
  health(): ModelHealth[] {
    return this.#entries.map(({ id, standing }) => standing.health(id, this.#options.clock()));
  }

  /** Records a probe's result: the problem that would keep the model from answering, or `undefined`. */
  probed(id: string, problem: { code: ErrorCode; detail: string } | undefined, askedAt: number): void {
    this.#entries.find((entry) => entry.id === id)?.standing.probed(problem, askedAt);
  }

  async answer(request: ModelRequest): Promise<ModelAnswer> {
    const { clock, usage, cooldownMs, log } = this.#options;
    const entries = this.#ordered(request);
    const text = trackText(request);
    const failures: Failures = new Map();
    const next = (): Entry | undefined =>
      this.#next(entries, failures) ?? (failures.size === 0 && request.only ? entries[0] : undefined);
    for (let entry = next(); entry; entry = next()) {
      const { id, standing } = entry;
      const askedAt = clock();
      const isOpen = standing.availability(askedAt) === "open";
      const attempts = isOpen && request.only === undefined ? ATTEMPTS : 1;
      try {
        const answer = await this.#ask(entry, { ...request, ...text.request }, attempts, text.startOver);
        standing.answered(askedAt, clock());
        usage.add(answer.model, answer.tokens, clock());
        return answer;
      } catch (error) {
        const known = error instanceof ModelTrouble || error instanceof ModelRefusal;
        if (request.signal.aborted || !known) throw error;
        failures.set(entry, error);
        if (error instanceof ModelRefusal && error.tooLong) continue;
        if (error instanceof ModelRefusal && !concernsModel(error)) throw error;
        standing.failed(error, clock(), cooldownMs);
        const { until } = standing.health(id, clock());
        log.warn("a model failed", { model: id, code: error.code, detail: error.message, until });
      }
    }
    throw this.#verdict(entries, failures);
  }

  #ordered({ preferred, only }: ModelRequest): Entry[] {
    if (only !== undefined) return this.#entries.filter(({ id }) => id === only);
    const first = this.#entries.filter(({ id }) => id === preferred);
    return [...first, ...this.#entries.filter(({ id }) => id !== preferred)];
  }

  /**
   * Returns a model that has not yet failed for this request; `undefined` if none may be tried. Prefers models
   * without recent failures.
   */
  #next(entries: readonly Entry[], failures: Failures): Entry | undefined {
    const now = this.#options.clock();
    const left = entries.filter((entry) => !failures.has(entry));
    return (
      left.find(({ standing }) => standing.availability(now) === "open") ??
      left.find(({ standing }) => standing.availability(now) === "resting")
    );
  }

  async #ask(
    entry: Entry,
    request: ModelRequest,
    attempts: number,
    startOver: () => void,
  ): Promise<ModelAnswer> {
    const { sleep, log } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      startOver();
      try {
        return await entry.model.answer(request);
      } catch (error) {
        const pause = attempt < attempts ? this.#pause(error, attempt) : undefined;
        if (pause === undefined || request.signal.aborted) throw error;
        log.debug("a model request is retried", { model: entry.id, attempt, pause });
        await sleep(pause, request.signal).catch(() => {});
        if (request.signal.aborted) throw error;
      }
    }
  }

  /** Returns the milliseconds before the next attempt; `undefined` if a retry would not help. */
  #pause(error: unknown, attempt: number): number | undefined {
    if (!(error instanceof ModelTrouble)) return undefined;
    const { retryAfterMs, quick } = error;
    if (retryAfterMs !== undefined) return retryAfterMs <= LONGEST_WAIT_MS ? retryAfterMs : undefined;
    const spread = LONGEST_PAUSE_MS - SHORTEST_PAUSE_MS;
    return quick ? attempt * (SHORTEST_PAUSE_MS + this.#options.random() * spread) : undefined;
  }

  #verdict(entries: readonly Entry[], failures: Failures): Error {
    const errors = entries.flatMap((entry) => failures.get(entry) ?? []);
    // This error takes precedence, since the agent can shorten the conversation.
    const tooLong = errors.find((error) => error instanceof ModelRefusal && error.tooLong);
    if (tooLong) return tooLong;

    const now = this.#options.clock();
    const closed = entries.filter(({ standing }) => standing.availability(now) === "closed");
    const troubles = errors.filter((error) => error instanceof ModelTrouble);
    const [first] = errors;
    if (closed.length === 0 && troubles.length === 0 && first) return first;

    const unclosed = entries.filter((entry) => !closed.includes(entry));
    const waits = [
      ...closed.map(({ standing }) => standing.until - now),
      ...unclosed.flatMap((entry) => {
        const error = failures.get(entry);
        return error instanceof ModelTrouble ? [error.retryAfterMs] : [];
      }),
    ];
    const known = waits.filter((wait) => wait !== undefined);
    const failure = troubles[0]?.reason ?? closed[0]?.standing.failure;
    return new RetryableError(failure?.code ?? "model_no_answer", failure?.detail ?? "No model answers.", {
      status: failure?.code === "model_rate_limited" ? 429 : 503,
      // Set a retry time only if the wait of every model is known.
      ...(known.length === waits.length && { retryAfterMs: Math.min(...known) }),
      ...(troubles[0] && { cause: troubles[0] }),
    });
  }
}

function trackText({ onText }: ModelRequest) {
  let begun = false;
  return {
    request: onText
      ? {
          onText: (delta: string | undefined) => {
            begun = true;
            onText(delta);
          },
        }
      : {},
    startOver: () => {
      if (begun) onText?.(undefined);
      begun = false;
    },
  };
}

/** Maximum time, in milliseconds, that a model rests after a failure that a person must fix. */
const LONGEST_REFUSAL_REST_MS = 60_000;
/** Longest wait that the relay accepts before it retries a model, in milliseconds. */
export const LONGEST_WAIT_MS = 2_000;
const REFUSED: ReadonlySet<ErrorCode> = new Set([
  "model_key_invalid",
  "model_not_available",
  "model_quota_exhausted",
]);

/** Returns true if another model may answer. */
export function concernsModel({ code }: ModelRefusal): boolean {
  return REFUSED.has(code);
}

/**
 * `resting`: the model failed recently, so it is tried only once, after all others. `closed`: the provider has
 * requested a wait above {@link LONGEST_WAIT_MS}, so the model is not tried.
 */
export type Availability = "open" | "resting" | "closed";

/** State of one model. Times are milliseconds since the epoch. */
export class ModelState {
  #answers = false;
  #failure: Reason | undefined;
  #until = 0;
  #closed = false;
  #changedAt = 0;

  /** Time at which the state `resting` or `closed` ends; in the past if the state is `open`. */
  get until(): number {
    return this.#until;
  }

  /** Returns `undefined` after a success. */
  get failure(): Reason | undefined {
    return this.#failure;
  }

  availability(now: number): Availability {
    if (this.#until <= now) return "open";
    return this.#closed ? "closed" : "resting";
  }

  /** Records the success of a request sent at `askedAt`, unless the model has failed since. */
  answered(askedAt: number, now: number): void {
    if (this.#failure !== undefined && this.#changedAt > askedAt) return;
    this.#changedAt = now;
    this.#recover();
  }

  /**
   * Records a failure. If the provider requests a wait above {@link LONGEST_WAIT_MS}, the model is not tried until
   * the wait ends. Otherwise, for at most `restMs`, the model is tried only after all others.
   */
  failed(error: ModelTrouble | ModelRefusal, now: number, restMs: number): void {
    this.#changedAt = now;
    this.#failure = error.reason;
    const wait = error instanceof ModelTrouble ? (error.retryAfterMs ?? 0) : 0;
    this.#closed = wait > LONGEST_WAIT_MS;
    if (this.#closed) this.#until = now + wait;
    else this.#until = now + (REFUSED.has(error.code) ? Math.min(LONGEST_REFUSAL_REST_MS, restMs) : restMs);
  }

  /**
   * Records the result of a probe, unless the model has had another result since `askedAt`. A success clears a
   * refusal, but not a rate limit or overload. A problem is only reported: the model stays in use, because the
   * provider's list of models may be incomplete.
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
