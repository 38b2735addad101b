import * as z from "zod/mini";
import { GATEWAY_ROUTES } from "../contract/control.ts";
import type { Clock, Sandbox } from "../edge/ports.ts";
import { once } from "../shared/once.ts";
import type { ContainerMemory } from "./container-memory.ts";

const NOTE = "scheduleAt";
/** Duration of a start in milliseconds, until one was measured. */
const COLD_START_MS = 5_000;
/** Sleeping for less is not worth it: stopping and starting take longer. */
const SHORTEST_SLEEP_MS = 10_000;
/** Longest time that a run keeps the container awake: by then the gateway gives it up. */
const LONGEST_RUN_MS = 3_600_000;

/** Part of the gateway's status that is read. What a container answers, its agent may have made up. */
const nextSchedule = once(() => z.object({ schedules: z.object({ nextAt: z.optional(z.string()) }) }));

/** Dependencies of {@link DueSchedule}. */
interface DueScheduleOptions {
  memory: ContainerMemory;
  sandbox: Pick<Sandbox, "peek">;
  clock: Clock;
}

/** Time of the gateway's next schedule: noted before the container sleeps, since nothing else wakes it then. */
export class DueSchedule {
  readonly #options: DueScheduleOptions;

  constructor(options: DueScheduleOptions) {
    this.#options = options;
  }

  /**
   * Reads the time from the gateway, before a sleep.
   *
   * @returns true if the container has to stay awake: the schedule is due soon, or it is running, which the gateway
   * reports as a time that has passed.
   */
  async poll(): Promise<boolean> {
    const { memory, sandbox, clock } = this.#options;
    const response = await sandbox.peek({ method: "GET", path: GATEWAY_ROUTES.status });
    const { data } = nextSchedule().safeParse(response?.ok ? await response.json().catch(() => null) : null);
    // A gateway that does not answer keeps nothing awake; its last answer stays noted.
    if (data === undefined) return false;
    const at = Date.parse(data.schedules.nextAt ?? "");
    const leftMs = at - clock();
    // A schedule that is stuck would start the container over and over.
    const isKnown = leftMs > -LONGEST_RUN_MS;
    memory.write(NOTE, isKnown ? String(at) : "");
    return isKnown && leftMs <= this.#leadMs + SHORTEST_SLEEP_MS;
  }

  /**
   * Returns when a stopped container is started, so that it is ready in time, in milliseconds since the epoch;
   * `undefined` if no schedule is due.
   */
  get startAt(): number | undefined {
    const noted = this.#options.memory.read(NOTE);
    return noted === undefined || noted === "" ? undefined : Number(noted) - this.#leadMs;
  }

  /** The container is being started. One start each: a gateway that cannot start must not be started for ever. */
  begun(): void {
    this.#options.memory.write(NOTE, "");
  }

  get #leadMs(): number {
    return this.#options.memory.coldStart().coldStartMs ?? COLD_START_MS;
  }
}
