import * as z from "zod/mini";
import { GATEWAY_ROUTES, type SandboxStatus } from "../contract/control.ts";
import { once } from "../shared/once.ts";
import type { Clock, Notes, Sandbox } from "./ports.ts";

const NOTE = "scheduleAt";
/** Assumed start time in milliseconds, until one is measured. */
const COLD_START_MS = 5_000;
/** Shorter sleeps are not worth a stop and a start. */
const SHORTEST_SLEEP_MS = 10_000;
/** Longest run for which the container stays awake. The gateway aborts runs after this time. */
const LONGEST_RUN_MS = 3_600_000;

/** Part of the gateway's status, validated because the agent may forge it. */
const nextSchedule = once(() => z.object({ schedules: z.object({ nextAt: z.optional(z.string()) }) }));

interface DueScheduleOptions {
  memory: Notes & { coldStart(): Pick<SandboxStatus, "coldStartMs"> };
  sandbox: Pick<Sandbox, "peek">;
  clock: Clock;
}

/** Stores the next schedule's time before the container sleeps, so that the edge can wake it. */
export class DueSchedule {
  readonly #options: DueScheduleOptions;

  constructor(options: DueScheduleOptions) {
    this.#options = options;
  }

  /**
   * Reads the time from the gateway before a sleep.
   *
   * @returns true if the container must stay awake because a schedule is due soon or running.
   */
  async poll(): Promise<boolean> {
    const { memory, sandbox, clock } = this.#options;
    const response = await sandbox.peek({ method: "GET", path: GATEWAY_ROUTES.status });
    const { data } = nextSchedule().safeParse(response?.ok ? await response.json().catch(() => null) : null);
    // A gateway that does not answer may sleep; its last stored time still applies.
    if (data === undefined) return false;
    const at = Date.parse(data.schedules.nextAt ?? "");
    const leftMs = at - clock();
    // Ignore a schedule stuck in the past, which would restart the container repeatedly.
    const isKnown = leftMs > -LONGEST_RUN_MS;
    memory.write(NOTE, isKnown ? String(at) : "");
    return isKnown && leftMs <= this.#leadMs + SHORTEST_SLEEP_MS;
  }

  /** Time to start a stopped container so that it is ready in time, in milliseconds since the epoch. */
  get startAt(): number | undefined {
    const noted = this.#options.memory.read(NOTE);
    return noted === undefined || noted === "" ? undefined : Number(noted) - this.#leadMs;
  }

  /** Clears the stored time when the container starts, so that a failing start is not repeated forever. */
  begun(): void {
    this.#options.memory.write(NOTE, "");
  }

  get #leadMs(): number {
    return this.#options.memory.coldStart().coldStartMs ?? COLD_START_MS;
  }
}
