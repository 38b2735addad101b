import { GATEWAY_ROUTES, type GatewayStatus } from "../contract/control.ts";
import type { Clock, PortRequest } from "../edge/ports.ts";
import type { ContainerMemory } from "./container-memory.ts";

const NOTE = "scheduleAt";
/** A start takes about this long where none was measured. */
const COLD_START_MS = 5_000;
/** Sleeping for less is not worth it: stopping and starting take longer. */
const SHORTEST_SLEEP_MS = 10_000;
/** A run keeps the container awake for so long at most: the gateway gives it up by then. */
const LONGEST_RUN_MS = 3_600_000;

/** Dependencies of {@link DueSchedule}. */
export interface DueScheduleOptions {
  notes: ContainerMemory;
  /** Asks the gateway where it is ready. */
  peek(request: PortRequest): Promise<Response | undefined>;
  clock: Clock;
}

/** Time of the gateway's next schedule: recorded before the container sleeps, since nothing else wakes it then. */
export class DueSchedule {
  readonly #options: DueScheduleOptions;

  constructor(options: DueScheduleOptions) {
    this.#options = options;
  }

  /**
   * Reads it from the gateway, before a sleep. @returns whether the container stays awake for it: it is due
   * soon, or its run is under way, which the gateway tells by a time that has passed.
   */
  async look(): Promise<boolean> {
    const { notes, clock } = this.#options;
    const status = await this.#status();
    // A gateway that does not say keeps nothing awake; what it said before stays noted.
    if (status === undefined) return false;
    const { nextAt } = status.schedules;
    const leftMs = nextAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(nextAt) - clock();
    // What is stuck would start the container over and over.
    const known = nextAt !== undefined && leftMs > -LONGEST_RUN_MS;
    notes.write(NOTE, known ? String(Date.parse(nextAt)) : "");
    return known && leftMs <= this.#leadMs + SHORTEST_SLEEP_MS;
  }

  /** Returns when a stopped container is started, so that it is ready in time; `undefined` where nothing is due. */
  get startAt(): number | undefined {
    const noted = this.#options.notes.read(NOTE);
    return noted === undefined || noted === "" ? undefined : Number(noted) - this.#leadMs;
  }

  /** The container is being started for it. One start a time: a gateway that cannot start must not be asked for ever. */
  begun(): void {
    this.#options.notes.write(NOTE, "");
  }

  get #leadMs(): number {
    return this.#options.notes.coldStart().coldStartMs ?? COLD_START_MS;
  }

  async #status(): Promise<GatewayStatus | undefined> {
    const response = await this.#options.peek({ method: "GET", path: GATEWAY_ROUTES.status });
    if (response === undefined || !response.ok) return undefined;
    return (await response.json()) as GatewayStatus;
  }
}
