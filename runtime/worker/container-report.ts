import { sha256Hex } from "../contract/digest.ts";
import type { SandboxStatus } from "../contract/control.ts";
import { reason } from "../contract/errors.ts";
import type { Clock } from "../edge/ports.ts";
import type { Restorer } from "./backups/restorer.ts";
import type { ContainerMemory } from "./container-memory.ts";

/** Dependencies of {@link ContainerReport}. */
interface ContainerReportOptions {
  notes: ContainerMemory;
  restorer: Pick<Restorer, "reason">;
}

/** The status of a container that does not tell it itself. */
export class ContainerReport {
  readonly #options: ContainerReportOptions;

  constructor(options: ContainerReportOptions) {
    this.#options = options;
  }

  stopped(): SandboxStatus {
    const { notes, restorer } = this.#options;
    const crash = notes.read("crash");
    const cause = restorer.reason ?? (crash ? reason("crash_looping", crash) : undefined);
    return {
      state: "stopped",
      since: notes.time("stoppedAt"),
      restarts: 0,
      ...(cause && { reason: cause }),
      ...notes.coldStart(),
    };
  }

  /** One that runs without its data. `answered`: its supervisor has, so that it waits for the data alone. */
  booting(answered: boolean): SandboxStatus {
    const at = this.#options.notes.time("startedAt");
    const phase = answered ? "restoring" : "starting";
    return { ...this.stopped(), state: "starting", since: at, start: { at, phase } };
  }

  /** The container itself ends before its supervisor answers, again and again: no wait mends that. */
  givenUp(): SandboxStatus {
    const detail = this.#options.notes.read("crash") || "The container ends before it answers.";
    return { ...this.stopped(), state: "crash-looping", reason: reason("crash_looping", detail) };
  }

  /** A cold start is the container's, of which the supervisor knows only its own part. */
  fromItsStart(status: SandboxStatus): SandboxStatus {
    const { notes } = this.#options;
    if (status.start === undefined || !notes.startIsOpen) return status;
    return { ...status, start: { ...status.start, at: notes.time("startedAt") } };
  }
}

/** Dependencies of {@link RecentAnswer}. */
interface FreshOptions<T> {
  ask(): Promise<T>;
  /** Time that an answer counts, in milliseconds. */
  forMs: number;
  clock: Clock;
}

/** An answer that counts for a while. */
export class RecentAnswer<T> {
  readonly #options: FreshOptions<T>;
  #known: { answer: T; at: number } | undefined;
  #asked: Promise<T> | undefined;

  constructor(options: FreshOptions<T>) {
    this.#options = options;
  }

  /** The answer. Of many who find it too old together, one asks. */
  async get(): Promise<T> {
    const { forMs, clock } = this.#options;
    if (this.#known && clock() - this.#known.at < forMs) return this.#known.answer;
    this.#asked ??= this.ask().finally(() => {
      this.#asked = undefined;
    });
    return this.#asked;
  }

  /** Asks, however fresh the answer is. */
  async ask(): Promise<T> {
    const answer = await this.#options.ask();
    this.#known = { answer, at: this.#options.clock() };
    return answer;
  }

  /** Forgets the answer. */
  forget(): void {
    this.#known = undefined;
  }
}

/** Returns a digest that tells two environments apart without keeping a value of them. */
export function fingerprintOf(environment: Record<string, string>): Promise<string> {
  return sha256Hex(JSON.stringify(environment));
}
