import * as z from "zod/mini";
import { GATEWAY_ROUTES, type SandboxStatus } from "../contract/control.ts";
import { once } from "../shared/once.ts";
import type { Clock, Notes, Sandbox } from "./ports.ts";

const NOTE = "scheduleAt";
/** Assumed duration of a container start in milliseconds, until one has been measured. */
const COLD_START_MS = 5_000;
/** Shortest sleep, in milliseconds, that is worth stopping the container for. */
const SHORTEST_SLEEP_MS = 10_000;
/** Number of attempts to read the next schedule's time. A busy gateway may answer late. */
const ATTEMPTS = 3;
/**
 * Maximum time in milliseconds that the container stays awake for a schedule's run. The gateway aborts longer runs.
 */
const LONGEST_RUN_MS = 3_600_000;

/** Schema of a part of the gateway's status, which is validated because the agent may forge it. */
const nextSchedule = once(() => z.object({ schedules: z.object({ nextAt: z.optional(z.string()) }) }));

interface DueScheduleOptions {
  memory: Notes & { coldStart(): Pick<SandboxStatus, "coldStartMs"> };
  sandbox: Pick<Sandbox, "peek">;
  clock: Clock;
}

/** Records when the next schedule is due, so that the edge can wake the container in time. */
export class DueSchedule {
  readonly #options: DueScheduleOptions;

  constructor(options: DueScheduleOptions) {
    this.#options = options;
  }

  /**
   * Reads the next schedule's time from the gateway before the container sleeps.
   *
   * @returns true if a schedule is running or due soon, so the container must stay awake
   */
  async poll(): Promise<boolean> {
    const { memory, sandbox, clock } = this.#options;
    let response: Response | undefined;
    for (let attempt = 1; response === undefined && attempt <= ATTEMPTS; attempt += 1)
      response = await sandbox.peek({ method: "GET", path: GATEWAY_ROUTES.status });
    const { data } = nextSchedule().safeParse(response?.ok ? await response.json().catch(() => null) : null);
    // Without an answer, keep the stored time: the container may be asleep.
    if (data === undefined) return false;
    const at = Date.parse(data.schedules.nextAt ?? "");
    const leftMs = at - clock();
    // Ignore a time over an hour ago, which would restart the container repeatedly.
    const isKnown = leftMs > -LONGEST_RUN_MS;
    memory.write(NOTE, isKnown ? String(at) : "");
    return isKnown && leftMs <= this.#leadMs + SHORTEST_SLEEP_MS;
  }

  /**
   * Time at which a stopped container must be started to be ready when the next schedule is due, in milliseconds
   * since the epoch; `undefined` if unknown.
   */
  get startAt(): number | undefined {
    const noted = this.#options.memory.read(NOTE);
    return noted === undefined || noted === "" ? undefined : Number(noted) - this.#leadMs;
  }

  /** Clears the stored time when the container starts. Otherwise a failing start would be repeated forever. */
  begun(): void {
    this.#options.memory.write(NOTE, "");
  }

  get #leadMs(): number {
    return this.#options.memory.coldStart().coldStartMs ?? COLD_START_MS;
  }
}
