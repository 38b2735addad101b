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

/** The part of the gateway's status that is read here. */
const gatewaySchedules = once(() => z.object({ schedules: z.object({ nextAt: z.optional(z.string()) }) }));

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
    const { memory, clock } = this.#options;
    const nextAt = await this.#nextAt();
    // A gateway that does not answer keeps nothing awake; its last answer stays noted.
    if (nextAt === undefined) return false;
    const leftMs = nextAt - clock();
    // A schedule that is stuck would start the container over and over.
    const isKnown = Number.isFinite(nextAt) && leftMs > -LONGEST_RUN_MS;
    memory.write(NOTE, isKnown ? String(nextAt) : "");
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

  /** Milliseconds since the epoch; `Infinity` if no schedule is due, `undefined` if the gateway does not answer. */
  async #nextAt(): Promise<number | undefined> {
    const response = await this.#options.sandbox.peek({ method: "GET", path: GATEWAY_ROUTES.status });
    if (!response?.ok) return undefined;
    const { nextAt } = gatewaySchedules().parse(await response.json()).schedules;
    return nextAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(nextAt);
  }
}
